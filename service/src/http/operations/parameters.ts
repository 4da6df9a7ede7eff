// The query parameters of all operations: how each is read, and how the OpenAPI document and the agents' tools describe it.

import type { ApiParameter } from '@offerbook/site/docs/api-document.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { HOSTNAME_LENGTH_MAX, parseHostname } from '@offerbook/wire/hostname.ts';
import {
  mistakenCountry,
  PASSBACK_DATA_BYTES_MAX,
  PASSBACK_UID_BYTES_MAX,
  passbackProblem,
} from '@offerbook/wire/text.ts';
import { DATE_TIME_PATTERN, dateTimeProblem, type Instant, parseInstant } from '@offerbook/wire/timestamp.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';

export const VALUE_LENGTH_MAX = 200;
/** Counted after normalisation, which percent-encodes the URL. */
const SHOP_PAGE_LENGTH_MAX = 2_048;

/** Returns the value, or what is wrong with it. */
export type Reader<T> = (text: string) => { value: T } | { detail: string };

export interface Parameter {
  readonly read: Reader<unknown>;
  /** JSON Schema. Longer values than its maxLength, or VALUE_LENGTH_MAX, are rejected before they are read. */
  readonly schema: Readonly<Record<string, unknown>> & { readonly maxLength?: number };
  readonly description: string;
  readonly example: string | number;
  /** True if surrounding spaces are removed: forms and spreadsheets often add them. */
  readonly isTrimmed?: true;
  /**
   * True if an empty value counts as absent, because forms send empty search fields. Not set for the cursor, because an
   * empty cursor would restart the walk.
   */
  readonly mayBeEmpty?: true;
}

export const UUID = { type: 'string', format: 'uuid' } as const;
const DATE_TIME = { type: 'string', pattern: DATE_TIME_PATTERN, maxLength: VALUE_LENGTH_MAX } as const;
const DATE_TIME_FORMATS =
  'Any ISO 8601 form that includes a day: basic or extended format; calendar, ordinal or week date; with or without a time. UTC unless it has an offset.';
const EXAMPLE_ID = '0192d1a0-0000-7000-8000-000000000001';

const words: Reader<string> = (value) => ({ value });

const country: Reader<string> = (value) => {
  if (!/^[A-Za-z]{2}$/.test(value))
    return { detail: 'must be a two-letter country code (ISO 3166-1 alpha-2)' };
  const code = value.toUpperCase();
  const mistaken = mistakenCountry(code);
  return mistaken === undefined ? { value: code } : { detail: mistaken };
};

const hostname: Reader<string> = (value) => {
  const parsed = parseHostname(value);
  return parsed === undefined
    ? { detail: 'must be a hostname such as www.shop.example, without a scheme or a path' }
    : { value: parsed };
};

const limit: Reader<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= PAGE_SIZE_MAX
    ? { value: Number(value) }
    : { detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` };

const dateTime: Reader<Instant> = (value) => {
  // An unencoded `+` before a UTC offset arrives as a space, so restore it. An earlier space may separate the date and time
  // instead of a T.
  const written = value.replace(/^([^Tt ]*[Tt ][^ ]*) /, '$1+');
  const instant = parseInstant(written);
  return instant === undefined ? { detail: dateTimeProblem(written) } : { value: instant };
};

function uuidOr(detail: string): Reader<Uuid> {
  return (value) => {
    const uuid = parseUuid(value);
    return uuid === undefined ? { detail } : { value: uuid };
  };
}

/** The only object that `expand` can add. */
const EXPANDABLE = 'retailer';
export type Expandable = typeof EXPANDABLE;

const expand: Reader<Expandable> = (value) =>
  value === EXPANDABLE ? { value } : { detail: `must be ${EXPANDABLE}; nothing else can be expanded` };

/** The partner's own data. It can be personal, so errors never contain it. */
function passback(bytesMax: number): Reader<string> {
  return (value) => {
    const detail = passbackProblem(value, bytesMax);
    return detail === undefined ? { value } : { detail };
  };
}

/** A page of a shop. Activation checks that the page is on the retailer's site. */
const shopPage: Reader<URL> = (value) => {
  const url = URL.parse(value);
  if (url === null || !/^https:\/\//i.test(value))
    return { detail: 'must be a URL that starts with https://' };
  if (url.username !== '' || url.password !== '')
    return { detail: 'must not contain a user name or a password' };
  if (url.port !== '') return { detail: 'must not contain a port' };
  return url.href.length > SHOP_PAGE_LENGTH_MAX
    ? { detail: `must not be longer than ${SHOP_PAGE_LENGTH_MAX} characters` }
    : { value: url };
};

/** The id of a retailer or deal to activate, if it is not in the path. */
const dealId = {
  read: uuidOr('must be a UUID'),
  schema: UUID,
  description: 'Id of the deal.',
  example: EXAMPLE_ID,
};

export const PARAMETERS = {
  cursor: {
    read: uuidOr('must be a UUID: the cursor of the previous page'),
    schema: UUID,
    description: 'Cursor returned with the previous page. Omit it to get the first page.',
    example: EXAMPLE_ID,
  },
  limit: {
    read: limit,
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX },
    description:
      'Maximum number of items per page. A page may contain fewer, because it also ends at 4 MiB; only a page without a cursor is the last.',
    example: 50,
  },
  name: {
    read: words,
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    description: "Returns only offers whose retailer's name contains this string, ignoring case and accents.",
    example: 'green',
    isTrimmed: true,
    mayBeEmpty: true,
  },
  category: {
    read: words,
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    description: 'Returns only offers in this category, ignoring case and accents.',
    example: 'Garden',
    isTrimmed: true,
    mayBeEmpty: true,
  },
  country: {
    read: country,
    schema: { type: 'string', pattern: '^([A-Za-z]{2})?$' },
    description: 'Returns only offers available in this country (ISO 3166-1 alpha-2, upper or lower case).',
    example: 'DE',
    mayBeEmpty: true,
  },
  // An empty hostname is an error in the client's code, and ignoring it would return every site's deals.
  hostname: {
    read: hostname,
    schema: { type: 'string', minLength: 1, maxLength: HOSTNAME_LENGTH_MAX },
    description:
      'Returns only items of the retailer whose site has this hostname: the retailer with the longest domain that is the hostname or one of its parent domains. Ignores case, a trailing dot and a port; Unicode names are converted (IDNA). Send `location.hostname` from a browser.',
    example: 'www.greenthumb.example',
  },
  retailerId: {
    read: uuidOr('must be a UUID'),
    schema: UUID,
    description: 'Returns only deals of this retailer.',
    example: EXAMPLE_ID,
  },
  updatedAtGreaterThan: {
    read: dateTime,
    schema: DATE_TIME,
    description: `Returns only transactions updated after this date-time. ${DATE_TIME_FORMATS}`,
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    read: dateTime,
    schema: DATE_TIME,
    description: `Returns only transactions updated before this date-time. ${DATE_TIME_FORMATS}`,
    example: '2026-11-15T00:00:00',
  },
  orgId: {
    read: uuidOr('must be a UUID'),
    schema: UUID,
    description: "Your organisation's public id. The operator finds it with `offerbook orgs list`.",
    example: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  },
  passbackUid: {
    read: passback(PASSBACK_UID_BYTES_MAX),
    schema: { type: 'string', minLength: 1, maxLength: PASSBACK_UID_BYTES_MAX },
    description: `Your own opaque id for the user, returned in the transaction. UTF-8, percent-encoded, up to ${PASSBACK_UID_BYTES_MAX} bytes, no control characters. Do not send personal data.`,
    example: 'user-8842',
  },
  expand: {
    read: expand,
    schema: { type: 'string', enum: [EXPANDABLE] },
    description: `Adds the ${EXPANDABLE} of each transaction, as far as it is known.`,
    example: EXPANDABLE,
  },
  passbackData: {
    read: passback(PASSBACK_DATA_BYTES_MAX),
    schema: { type: 'string', maxLength: PASSBACK_DATA_BYTES_MAX },
    description: `Optional data of your choice, returned in the transaction. UTF-8, percent-encoded, up to ${printCount(PASSBACK_DATA_BYTES_MAX)} bytes, no control characters.`,
    example: 'campaign=autumn',
    mayBeEmpty: true,
  },
  to: {
    read: shopPage,
    schema: { type: 'string', format: 'uri', maxLength: SHOP_PAGE_LENGTH_MAX },
    description:
      "The page of the shop on which the user should arrive, instead of the shop's home page or the promotion's page. It must start with https:// and be on one of the retailer's domains or a subdomain. Ignored if the operator's link for the shop cannot contain a page.",
    example: 'https://www.greenthumb.example/spades?size=l',
    mayBeEmpty: true,
  },
  cashbackOfferId: dealId,
  couponId: dealId,
  promotionId: dealId,
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

/** Parameters of every list. */
export const PAGE_PARAMETERS = ['cursor', 'limit'] as const;

const USER_FILTER =
  'Returns only transactions of this user. Case-sensitive. Combines with the other parameters.';

/** Returns a query parameter of a list. `pageSize` is the default for `limit`. */
export function listParameter(name: ParameterName, pageSize: number): ApiParameter {
  const parameter = linkParameter(name);
  if (name === 'passbackUid') return { ...parameter, description: USER_FILTER };
  return name === 'limit' ? { ...parameter, schema: { ...parameter.schema, default: pageSize } } : parameter;
}

/** Returns a query parameter of an activation link. */
export function linkParameter(name: ParameterName, required = false): ApiParameter {
  const { description, schema, example } = PARAMETERS[name];
  return { name, in: 'query', description, ...(required && { required }), schema, example };
}

export function pathParameter(
  name: string,
  description: string,
  schema: ApiParameter['schema'],
  example: string,
): ApiParameter {
  return { name, in: 'path', required: true, description, schema, example };
}
