// The query parameters of all operations. A single error lists every parameter that is invalid, misspelt or misleading.

import { mistakenCountry } from '@offerbook/wire/country-code.ts';
import { HOSTNAME_LENGTH_MAX, parseHostname } from '@offerbook/wire/hostname.ts';
import { dateTimeProblem, type Instant, parseInstant } from '@offerbook/wire/timestamp.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { z } from 'zod';
import { ApiError, type ParameterError } from '../../domain/api-errors.ts';
import { PASSBACK_DATA_BYTES_MAX, PASSBACK_UID_BYTES_MAX, passbackProblem } from '../../domain/click.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import type { PathParameters } from '../exchange.ts';
import { describeMisleading, describeMisspelling } from './unknown-parameter.ts';

export const VALUE_LENGTH_MAX = 200;
/** Counted after normalisation, which percent-encodes the URL. */
export const SHOP_PAGE_LENGTH_MAX = 2_048;

/** Returns the value, or what is wrong with it. */
type Reader<T> = (text: string) => { value: T } | { detail: string };

interface Parameter {
  readonly read: Reader<unknown>;
  /** True if surrounding spaces are removed: forms and spreadsheets often add them. */
  readonly isTrimmed?: true;
  /**
   * True if an empty value counts as absent, because forms send empty search fields. Not set for the cursor, because an
   * empty cursor would restart the walk.
   */
  readonly mayBeEmpty?: true;
  /** In characters; VALUE_LENGTH_MAX by default. */
  readonly lengthMax?: number;
}

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
export const EXPANDABLE = 'retailer';
export type Expandable = typeof EXPANDABLE;

const expand: Reader<Expandable> = (value) =>
  value === EXPANDABLE ? { value } : { detail: `must be ${EXPANDABLE}; nothing else can be expanded` };

/** The partner's own data. It can be personal, so errors never contain it. */
function passback(bytesMax: number) {
  const read: Reader<string> = (value) => {
    const detail = passbackProblem(value, bytesMax);
    return detail === undefined ? { value } : { detail };
  };
  return { read, lengthMax: bytesMax };
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

const id = { read: uuidOr('must be a UUID') };

const PARAMETERS = {
  cursor: { read: uuidOr('must be a UUID: the cursor of the previous page') },
  limit: { read: limit },
  name: { read: words, isTrimmed: true, mayBeEmpty: true },
  category: { read: words, isTrimmed: true, mayBeEmpty: true },
  country: { read: country, mayBeEmpty: true },
  // An empty hostname is an error in the client's code, and ignoring it would return every site's deals.
  hostname: { read: hostname, lengthMax: HOSTNAME_LENGTH_MAX },
  updatedAtGreaterThan: { read: dateTime },
  updatedAtLessThan: { read: dateTime },
  orgId: id,
  passbackUid: passback(PASSBACK_UID_BYTES_MAX),
  expand: { read: expand },
  passbackData: { ...passback(PASSBACK_DATA_BYTES_MAX), mayBeEmpty: true },
  to: { read: shopPage, lengthMax: SHOP_PAGE_LENGTH_MAX, mayBeEmpty: true },
  retailerId: id,
  cashbackOfferId: id,
  couponId: id,
  promotionId: id,
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

/** Query parameters in the OpenAPI document, which lists deal ids only as path parameters. */
export type DocumentedParameter = Exclude<ParameterName, 'cashbackOfferId' | 'couponId' | 'promotionId'>;

/** Parameters of every list. */
export const PAGE_PARAMETERS = ['cursor', 'limit'] as const;

type Value<Name extends ParameterName> =
  (typeof PARAMETERS)[Name]['read'] extends Reader<infer T> ? T : never;
export type Query<Name extends ParameterName> = { readonly [N in Name]?: Value<N> };

type LoadSchema = () => Promise<z.ZodType>;

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: readonly ParameterError[];
  /** Names that are not parameters of the operation. */
  readonly unknown: readonly string[];
}

/** Parses a query string without its question mark. Throws ApiError if a parameter is invalid or missing. */
export function parseQuery<Name extends ParameterName, Required extends Name = never>(
  search: string,
  names: readonly Name[],
  required: readonly Required[] = [],
): Query<Name> & { readonly [N in Required]: Value<N> } {
  const parsed = parseParameters(search, names, required);
  return valuesOf(parsed, (unknown) => describeMisspelling(unknown, names));
}

/** Parses the id in a path. Throws ApiError if it is not a UUID. */
export function parsePathId({ id = '' }: PathParameters): Uuid {
  const uuid = parseUuid(id);
  if (uuid === undefined) throw invalidParameters([{ parameter: 'id', detail: 'must be a UUID' }]);
  return uuid;
}

/** Returns a parser for a list's query string. It rejects unknown parameters that look like filters. */
export function listQueryReader<Name extends ParameterName>(names: readonly Name[], loadSchema: LoadSchema) {
  // Loaded at the first unknown parameter, because most servers never receive one.
  let meaningful: Promise<readonly string[]> | undefined;

  return async (search: string): Promise<Query<Name>> => {
    if (search === '') return {};
    const parsed = parseParameters(search, names, []);
    if (parsed.unknown.length > 0) meaningful ??= loadMeaningfulNames(loadSchema);
    const filters = await meaningful;
    return valuesOf(parsed, (unknown) => describeMisleading(unknown, names, filters ?? []));
  };
}

/** Returns the names of the item's fields and of all operations' parameters. */
export async function loadMeaningfulNames(loadSchema: LoadSchema): Promise<readonly string[]> {
  const [schema, { fieldNames }] = await Promise.all([loadSchema(), import('../../domain/field-names.ts')]);
  return ['data', ...fieldNames(schema), ...Object.keys(PARAMETERS)];
}

function parseParameters(
  search: string,
  names: readonly ParameterName[],
  required: readonly ParameterName[],
): Parsed {
  const given = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  const errors: ParameterError[] = [];
  for (const name of names) {
    const all = given.getAll(name);
    const [value] = all;
    if (value === undefined) {
      if (required.includes(name)) errors.push({ parameter: name, detail: 'is missing' });
      continue;
    }
    const result = readParameter(PARAMETERS[name], value, all.length);
    if (result === undefined) continue;
    if ('detail' in result) errors.push({ parameter: name, detail: result.detail });
    else values[name] = result.value;
  }
  const isUnknown = (name: string) => !(names as readonly string[]).includes(name);
  return { values, errors, unknown: [...new Set([...given.keys()].filter(isUnknown))] };
}

/** Throws ApiError if there are errors, or if `explain` returns a reason to reject an unknown parameter. */
function valuesOf(
  { values, errors, unknown }: Parsed,
  explain: (unknown: string) => string | undefined,
): never {
  const rejected = unknown.flatMap((parameter) => {
    const detail = explain(parameter);
    return detail === undefined ? [] : [{ parameter, detail }];
  });
  const all = [...errors, ...rejected];
  if (all.length === 0) return values as never;
  throw invalidParameters(all);
}

function invalidParameters(errors: readonly ParameterError[]): ApiError {
  const list = errors.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ');
  return new ApiError('invalid_parameter', `${list}.`, { errors });
}

function readParameter(parameter: Parameter, given: string, times: number) {
  if (times > 1) return { detail: 'must be given only once' };
  const { lengthMax = VALUE_LENGTH_MAX } = parameter;
  // As in JSON Schema, the limit is a number of code points. The first check is cheap, and is enough for nearly all values.
  if (given.length > lengthMax && [...given].length > lengthMax)
    return { detail: `must not be longer than ${lengthMax} characters` };
  const value = parameter.isTrimmed ? given.trim() : given;
  if (value !== '') return parameter.read(value);
  return parameter.mayBeEmpty ? undefined : { detail: 'must not be empty' };
}
