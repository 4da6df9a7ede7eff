// The words that operations share in the OpenAPI document: what each parameter and header means.

import { DATE_TIME_PATTERN } from '@offerbook/wire/timestamp.ts';
import type { ErrorCode } from '../../domain/api-errors.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { type ParameterName, VALUE_LENGTH_MAX } from '../operations/query.ts';

export type Schema = Record<string, unknown>;

export interface ParameterObject {
  readonly name: string;
  readonly in: 'query' | 'path';
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
    'Links that users follow to a shop. They take no token, and name your organisation by its public id.',
};

/** The public id of an organisation. */
const EXAMPLE_ORG = '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a';

const DATE_TIME_WORDS =
  'Any form of ISO 8601 that names a day: basic or extended format, calendar, ordinal or week date, with or without a time. UTC unless it has an offset.';

const PARAMETER_OBJECTS: Record<ParameterName, Omit<ParameterObject, 'name' | 'in'>> = {
  cursor: {
    description:
      'Where the page starts: the cursor of the previous page. Without it, the first page is returned.',
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  limit: {
    description:
      'How many items a page has at the most. A page may hold fewer items than the limit, because it also ends at 4 MiB; only one without a cursor is the last. An addition of this service.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX },
    example: 50,
  },
  name: {
    description: "Keeps offers whose retailer's name contains this text, ignoring case and accents.",
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'green',
  },
  category: {
    description: 'Keeps offers of this category, ignoring case and accents.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'Garden',
  },
  country: {
    description: 'Keeps offers that are available in this country, ISO 3166-1 alpha-2, in any case.',
    schema: { type: 'string', pattern: '^([A-Za-z]{2})?$' },
    example: 'DE',
  },
  updatedAtGreaterThan: {
    description: `Keeps transactions updated after this date-time. ${DATE_TIME_WORDS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    description: `Keeps transactions updated before this date-time. ${DATE_TIME_WORDS}`,
    schema: { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-15T00:00:00',
  },
  orgId: {
    description: "The public id of your organisation. The operator's command `offerbook orgs list` shows it.",
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_ORG,
  },
  passbackUid: {
    description:
      'Your own opaque id of the user. It comes back with the transaction. UTF-8, percent-encoded, up to 255 bytes, without control characters; do not put personal data here.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'user-8842',
  },
  passbackData: {
    description:
      'Anything else that is to come back with the transaction. UTF-8, percent-encoded, up to 1,024 bytes, without control characters.',
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
    description: `The id of the ${noun}.`,
    required: true as const,
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000021',
  };
}

export function headerRefs(names: readonly HeaderName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The operator chooses how many items a page has when the caller does not. */
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
    'The id of this request: the one you sent, if it has at most 128 letters, digits and signs of . : / + = @ -',
    '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  ),
  RateLimit: header(
    'What is left of the limit that the request counted for, and in how many seconds the limit starts again.',
    '"public";r=5999;t=60',
  ),
  'RateLimit-Policy': header('The limit: so many requests in so many seconds.', '"public";q=6000;w=60'),
  Link: header(
    'The whole URL of the next page, when there is one.',
    '<https://api.example/v1/retailers/?cursor=0192d1a0-0000-7000-8000-000000000001>; rel="next"',
  ),
  ETag: requiredHeader(
    'Send it back as If-None-Match: an unchanged page is answered with 304 and no body.',
    '"1x7f0g2k3"',
  ),
  'Cache-Control': requiredHeader(
    'How long the answer may be kept, and by whom. A page of the catalogue: a minute, or less when a coupon or promotion on it starts or ends sooner.',
    'private, max-age=60',
  ),
  Vary: requiredHeader('The request headers that the answer depends on.', 'Authorization, Accept-Encoding'),
  'Complete-Through': requiredHeader(
    'Every change up to and including this stamp was visible to this read; every later change will carry a greater one.',
    '2026-11-14T12:05:31.482',
  ),
  'WWW-Authenticate': header(
    'What kind of token is wanted, and what was wrong with the one sent.',
    'Bearer realm="offerbook", error="invalid_token"',
  ),
  'Retry-After': requiredHeader('How many seconds to wait before trying again.', 2),
  Allow: requiredHeader('The methods that are supported.', 'GET, HEAD'),
};

/** Those that only links of activation have. */
export const ACTIVATION_HEADERS = {
  Location: requiredHeader('Where the shop is.', 'https://network.example/click?sub=Vb89jzL001biPkmMApa4tT'),
  'Referrer-Policy': requiredHeader('The shop is not told from which page the user came.', 'no-referrer'),
  'X-Robots-Tag': requiredHeader('No index should list the link.', 'noindex'),
};

export type HeaderName = keyof typeof HEADERS | keyof typeof ACTIVATION_HEADERS;

/** The headers of every error. Those of a limit are there if the request counted for one. */
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

/** A header that is on every answer for which the document lists it. */
function requiredHeader(description: string, example: string | number): HeaderObject {
  return { ...header(description, example), required: true };
}

function header(description: string, example: string | number): HeaderObject {
  return { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example };
}
