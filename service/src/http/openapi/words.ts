// Descriptions, schemas and examples of the parameters and headers in the OpenAPI document.

import { DATE_TIME_PATTERN } from '@offerbook/wire/timestamp.ts';
import type { ErrorCode } from '../../domain/api-errors.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { type ParameterName, VALUE_LENGTH_MAX } from '../operations/query.ts';

export type Schema = Record<string, unknown>;

export interface ParameterObject extends ParameterWords {
  readonly name: string;
  readonly in: 'query' | 'path';
}

interface ParameterWords {
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string | number;
}

export interface HeaderObject {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
  readonly required?: boolean;
}

export const ACTIVATION_TAG = {
  name: 'Activation',
  description:
    'Links that send users to a shop. They need no token; they identify your organisation by its public id.',
};

/** The public id of an organisation. */
const EXAMPLE_ORG = '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a';

const DATE_TIME_WORDS =
  'Any ISO 8601 form that includes a day: basic or extended format; calendar, ordinal or week date; with or without a time. UTC unless it has an offset.';

const PARAMETER_OBJECTS: Record<ParameterName, ParameterWords> = {
  cursor: {
    description: 'Cursor returned with the previous page. Omit it to get the first page.',
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  limit: {
    description:
      'Maximum number of items per page. A page may contain fewer, because it also ends at 4 MiB; only a page without a cursor is the last. This parameter is an extension of this service.',
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
  updatedAtGreaterThan: {
    description: `Returns only transactions updated after this date-time. ${DATE_TIME_WORDS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    description: `Returns only transactions updated before this date-time. ${DATE_TIME_WORDS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-15T00:00:00',
  },
  orgId: {
    description: "Your organisation's public id. The operator finds it with `offerbook orgs list`.",
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_ORG,
  },
  passbackUid: {
    description:
      'Your own opaque id for the user, returned in the transaction. UTF-8, percent-encoded, up to 255 bytes, no control characters. Do not send personal data.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'user-8842',
  },
  passbackData: {
    description:
      'Optional data of your choice, returned in the transaction. UTF-8, percent-encoded, up to 1,024 bytes, no control characters.',
    schema: { type: 'string', maxLength: 1_024 },
    example: 'campaign=autumn',
  },
  retailerId: idObject('retailer'),
  cashbackOfferId: idObject('cashback offer'),
  couponId: idObject('coupon'),
  promotionId: idObject('promotion'),
};

function idObject(noun: string) {
  return {
    description: `Id of the ${noun}.`,
    required: true as const,
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000021',
  };
}

export function headerRefs(names: readonly HeaderName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `pageSize` is the operator's default for `limit`. */
export function parameterObject(name: ParameterName, pageSize: number): ParameterObject {
  const { schema, ...words } = PARAMETER_OBJECTS[name];
  return {
    name,
    in: 'query',
    ...words,
    schema: name === 'limit' ? { ...schema, default: pageSize } : schema,
  };
}

export const HEADERS = {
  'Request-Id': requiredHeader(
    'Id of this request. An id that you send is used if it has at most 128 characters, all of them letters, digits or . : / + = @ -',
    '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  ),
  RateLimit: header(
    'Requests left in the current window (r), and seconds until the window ends (t).',
    '"public";r=5999;t=60',
  ),
  'RateLimit-Policy': header(
    'Maximum number of requests (q) per window of w seconds.',
    '"public";q=6000;w=60',
  ),
  Link: header(
    'URL of the next page, if there is one.',
    '<https://api.example/v1/retailers/?cursor=0192d1a0-0000-7000-8000-000000000001>; rel="next"',
  ),
  ETag: requiredHeader(
    'Send this value as If-None-Match. If the page is unchanged, the response is 304 without a body.',
    '"1x7f0g2k3"',
  ),
  'Cache-Control': requiredHeader(
    'How long the response may be cached, and by which caches. Catalogue pages may be cached for one minute, or less if a coupon or promotion on the page starts or ends sooner.',
    'private, max-age=60',
  ),
  Vary: requiredHeader('Request headers that the response depends on.', 'Authorization, Accept-Encoding'),
  'Complete-Through': requiredHeader(
    'The page is complete through this time: it reflects every change stamped at or before it, and every later change will have a greater updatedAt.',
    '2026-11-14T12:05:31.482',
  ),
  'WWW-Authenticate': header(
    'The authentication scheme, and the error for the token.',
    'Bearer realm="offerbook", error="invalid_token"',
  ),
  'Retry-After': requiredHeader('Seconds to wait before retrying.', 2),
  Allow: requiredHeader('Supported methods.', 'GET, HEAD'),
};

/** Headers that only activation links return. */
export const ACTIVATION_HEADERS = {
  Location: requiredHeader('URL of the shop.', 'https://network.example/click?sub=Vb89jzL001biPkmMApa4tT'),
  'Referrer-Policy': requiredHeader('Hides the referring page from the shop.', 'no-referrer'),
  'X-Robots-Tag': requiredHeader('Asks search engines not to index the link.', 'noindex'),
};

export type HeaderName = keyof typeof HEADERS | keyof typeof ACTIVATION_HEADERS;

/** Headers of every error. The RateLimit headers are present if the request counted towards a limit. */
export const COMMON_ERROR_HEADERS: readonly HeaderName[] = [
  'Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
];

export const ERROR_HEADERS: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  missing_token: ['WWW-Authenticate'],
  invalid_token: ['WWW-Authenticate'],
  wrong_token_kind: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  rate_limited: ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** A header that is always present on the responses that list it. */
function requiredHeader(description: string, example: string | number): HeaderObject {
  return { ...header(description, example), required: true };
}

function header(description: string, example: string | number): HeaderObject {
  return { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example };
}
