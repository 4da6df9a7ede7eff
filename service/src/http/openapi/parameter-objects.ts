// The parameters in the OpenAPI document, each with a description, a schema and an example.

import type { ApiParameter } from '@offerbook/site/docs/api-document.ts';
import { HOSTNAME_LENGTH_MAX } from '@offerbook/wire/hostname.ts';
import { DATE_TIME_PATTERN } from '@offerbook/wire/timestamp.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import {
  type DocumentedParameter,
  EXPANDABLE,
  SHOP_PAGE_LENGTH_MAX,
  VALUE_LENGTH_MAX,
} from '../operations/query.ts';
import type { Schema } from './component-schemas.ts';

const DATE_TIME_FORMATS =
  'Any ISO 8601 form that includes a day: basic or extended format; calendar, ordinal or week date; with or without a time. UTC unless it has an offset.';

export const UUID = { type: 'string', format: 'uuid' };

interface ParameterDescription {
  readonly description: string;
  readonly required?: true;
  readonly schema: Schema;
  readonly example: string | number;
}

const PARAMETERS: Record<DocumentedParameter, ParameterDescription> = {
  cursor: {
    description: 'Cursor returned with the previous page. Omit it to get the first page.',
    schema: UUID,
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  limit: {
    description:
      'Maximum number of items per page. A page may contain fewer, because it also ends at 4 MiB; only a page without a cursor is the last. This parameter is specific to Offerbook.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX },
    example: 50,
  },
  name: {
    description: "Returns only offers whose retailer's name contains this string, ignoring case and accents.",
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'green',
  },
  category: {
    description: 'Returns only offers in this category, ignoring case and accents.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'Garden',
  },
  country: {
    description: 'Returns only offers available in this country (ISO 3166-1 alpha-2, upper or lower case).',
    schema: { type: 'string', pattern: '^([A-Za-z]{2})?$' },
    example: 'DE',
  },
  hostname: {
    description:
      'Returns only items of the retailer whose site has this hostname: the retailer with the longest domain that is the hostname or one of its parent domains. Ignores case, a trailing dot and a port; Unicode names are converted (IDNA). Send `location.hostname` from a browser.',
    schema: { type: 'string', minLength: 1, maxLength: HOSTNAME_LENGTH_MAX },
    example: 'www.greenthumb.example',
  },
  retailerId: {
    description: 'Returns only deals of this retailer.',
    schema: UUID,
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  updatedAtGreaterThan: {
    description: `Returns only transactions updated after this date-time. ${DATE_TIME_FORMATS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    description: `Returns only transactions updated before this date-time. ${DATE_TIME_FORMATS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-15T00:00:00',
  },
  orgId: {
    description: "Your organisation's public id. The operator finds it with `offerbook orgs list`.",
    required: true,
    schema: UUID,
    example: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  },
  passbackUid: {
    description:
      'Your own opaque id for the user, returned in the transaction. UTF-8, percent-encoded, up to 255 bytes, no control characters. Do not send personal data.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'user-8842',
  },
  expand: {
    description: `Adds the ${EXPANDABLE} of each transaction, as far as it is known. This parameter is specific to Offerbook.`,
    schema: { type: 'string', enum: [EXPANDABLE] },
    example: EXPANDABLE,
  },
  passbackData: {
    description:
      'Optional data of your choice, returned in the transaction. UTF-8, percent-encoded, up to 1,024 bytes, no control characters.',
    schema: { type: 'string', maxLength: 1_024 },
    example: 'campaign=autumn',
  },
  to: {
    description:
      "The page of the shop on which the user should arrive, instead of the shop's home page or the promotion's page. It must start with https:// and be on one of the retailer's domains or a subdomain. Ignored if the operator's link for the shop cannot contain a page.",
    schema: { type: 'string', format: 'uri', maxLength: SHOP_PAGE_LENGTH_MAX },
    example: 'https://www.greenthumb.example/spades?size=l',
  },
};

/** Parameters that have another meaning in lists. */
const LIST_PARAMETERS: Partial<Record<DocumentedParameter, ParameterDescription>> = {
  passbackUid: {
    description:
      'Returns only transactions of this user. Case-sensitive. Combines with the other parameters. This parameter is specific to Offerbook.',
    schema: PARAMETERS.passbackUid.schema,
    example: PARAMETERS.passbackUid.example,
  },
};

/** Returns a query parameter of a list. `pageSize` is the default for `limit`. */
export function listParameter(name: DocumentedParameter, pageSize: number): ApiParameter {
  const { schema, ...description } = LIST_PARAMETERS[name] ?? PARAMETERS[name];
  return {
    name,
    in: 'query',
    ...description,
    schema: name === 'limit' ? { ...schema, default: pageSize } : schema,
  };
}

/** Returns a query parameter of an activation link. */
export function linkParameter(name: DocumentedParameter): ApiParameter {
  return { name, in: 'query', ...PARAMETERS[name] };
}

export function pathParameter(
  name: string,
  description: string,
  schema: Schema,
  example: string,
): ApiParameter {
  return { name, in: 'path', required: true, description, schema, example };
}
