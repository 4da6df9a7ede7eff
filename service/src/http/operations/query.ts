// The query parameters of the operations. Every bad one is named at once, and so is one that is a misspelt one of ours;
// others are ignored, because clients add cache busters.

import { ApiError, type ParameterError } from '../../domain/api-errors.ts';
import { mistakenCountry } from '../../domain/country-code.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { dateTimeProblem, type Instant, parseInstant } from '../../domain/timestamp.ts';
import { parseUuid, type Uuid } from '../../domain/uuid.ts';
import { findNearMiss } from './near-miss.ts';

export const VALUE_LENGTH_MAX = 200;

/** Reads a value, or says what is wrong with it. */
type Reader<T> = (text: string) => { value: T } | { detail: string };

interface Parameter {
  readonly read: Reader<unknown>;
  /** Blanks around a word come from forms and spreadsheets; around anything else they are a mistake. */
  readonly trimmed?: boolean;
  /** Forms send empty fields, so an empty search is no search; an empty cursor would silently restart a walk. */
  readonly empty: 'absent' | 'bad';
  /** In characters: VALUE_LENGTH_MAX unless given. */
  readonly lengthMax?: number;
}

const text: Reader<string> = (value) => ({ value });

const country: Reader<string> = (value) => {
  if (!/^[A-Za-z]{2}$/.test(value))
    return { detail: 'must be a country code of two letters (ISO 3166-1 alpha-2)' };
  const code = value.toUpperCase();
  const mistaken = mistakenCountry(code);
  return mistaken === undefined ? { value: code } : { detail: mistaken };
};

const limit: Reader<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= PAGE_SIZE_MAX
    ? { value: Number(value) }
    : { detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` };

const dateTime: Reader<Instant> = (value) => {
  // An unencoded `+` before an offset arrives as a blank. The first blank may stand for the T.
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

/** What the partner passes along. Never repeated in an answer: it may be personal. */
const passback: Reader<string> = (value) => {
  if (/\p{Cc}/u.test(value)) return { detail: 'must have no control characters' };
  // What every byte becomes that is no UTF-8: different users would be one. It is refused where it was meant, too.
  if (value.includes('\uFFFD')) return { detail: 'must be UTF-8, percent-encoded' };
  return { value };
};

const id = { read: uuidOr('must be a UUID'), empty: 'bad' } as const;

const PARAMETERS = {
  cursor: { read: uuidOr('must be a UUID: the cursor of the previous page'), empty: 'bad' },
  limit: { read: limit, empty: 'bad' },
  name: { read: text, empty: 'absent', trimmed: true },
  category: { read: text, empty: 'absent', trimmed: true },
  country: { read: country, empty: 'absent' },
  updatedAtGreaterThan: { read: dateTime, empty: 'bad' },
  updatedAtLessThan: { read: dateTime, empty: 'bad' },
  orgId: id,
  passbackUid: { read: passback, empty: 'bad', lengthMax: 255 },
  passbackData: { read: passback, empty: 'absent', lengthMax: 1_024 },
  retailerId: id,
  cashbackOfferId: id,
  couponId: id,
  promotionId: id,
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

/** What every list takes. */
export const PAGE_PARAMETERS = ['cursor', 'limit'] as const;

type Value<Name extends ParameterName> =
  (typeof PARAMETERS)[Name]['read'] extends Reader<infer T> ? T : never;
export type Query<Name extends ParameterName> = { readonly [N in Name]?: Value<N> };

/** Reads the named parameters from a query string without its question mark. Those that are required must be there. */
export function parseQuery<Name extends ParameterName, Required extends Name = never>(
  search: string,
  names: readonly Name[],
  required: readonly Required[] = [],
): Query<Name> & { readonly [N in Required]: Value<N> } {
  if (search === '' && required.length === 0) return {} as never;
  const given = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  const errors: ParameterError[] = [];
  for (const name of names) {
    const all = given.getAll(name);
    const [value] = all;
    if (value === undefined) {
      if ((required as readonly string[]).includes(name))
        errors.push({ parameter: name, detail: 'is missing' });
      continue;
    }
    const result = readParameter(PARAMETERS[name], value, all.length);
    if (result === undefined) continue;
    if ('detail' in result) errors.push({ parameter: name, detail: result.detail });
    else values[name] = result.value;
  }
  errors.push(...misspeltParameters(given, names));
  if (errors.length > 0) {
    const list = errors.map((error) => `${error.parameter} ${error.detail}`).join('; ');
    throw new ApiError('invalid_parameter', `${list}.`, { errors });
  }
  return values as never;
}

function misspeltParameters(given: URLSearchParams, names: readonly string[]): ParameterError[] {
  const others = new Set([...given.keys()].filter((name) => !names.includes(name)));
  return [...others].flatMap((parameter) => {
    const meant = findNearMiss(parameter, names);
    return meant === undefined ? [] : [{ parameter, detail: `is not a parameter; ${meant} is` }];
  });
}

function readParameter(parameter: Parameter, given: string, times: number) {
  if (times > 1) return { detail: 'must be given only once' };
  const { lengthMax = VALUE_LENGTH_MAX } = parameter;
  if (isTooLong(given, lengthMax)) return { detail: `must not be longer than ${lengthMax} characters` };
  const value = parameter.trimmed === true ? given.trim() : given;
  if (value !== '') return parameter.read(value);
  return parameter.empty === 'absent' ? undefined : { detail: 'must not be empty' };
}

/** Counts characters as JSON Schema does; the quick look first, as nearly all values are short. */
function isTooLong(value: string, lengthMax: number): boolean {
  return value.length > lengthMax && [...value].length > lengthMax;
}
