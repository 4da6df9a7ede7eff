// The query parameters of the five operations. Every bad one is named at once; unknown ones are ignored,
// because clients add cache busters.

import { ApiError, type ParameterError } from '../../domain/api-errors.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { type Instant, parseInstant } from '../../domain/timestamp.ts';
import { parseUuid, type Uuid } from '../../domain/uuid.ts';

export const VALUE_LENGTH_MAX = 200;

/** Reads a value, or says what is wrong with it. */
type Reader<T> = (text: string) => { value: T } | { detail: string };

interface Parameter<T> {
  readonly read: Reader<T>;
  /** Forms send empty fields, so an empty search is no search; an empty cursor would silently restart a walk. */
  readonly empty: 'absent' | 'bad';
}

const text: Reader<string> = (value) => ({ value });

const country: Reader<string> = (value) =>
  /^[A-Za-z]{2}$/.test(value)
    ? { value: value.toUpperCase() }
    : { detail: 'must be a country code of two letters (ISO 3166-1 alpha-2)' };

const cursor: Reader<Uuid> = (value) => {
  const uuid = parseUuid(value);
  return uuid === undefined ? { detail: 'must be a UUID: the cursor of the previous page' } : { value: uuid };
};

const limit: Reader<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= PAGE_SIZE_MAX
    ? { value: Number(value) }
    : { detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` };

const dateTime: Reader<Instant> = (value) => {
  // The plus of an offset may arrive as a space: that is what a query string makes of an unescaped one.
  const instant = parseInstant(value.replace(/ (?=\d\d:\d\d$)/, '+'));
  return instant === undefined
    ? {
        detail:
          'must be a date-time that exists, such as 2026-11-14T12:00:00 (UTC), optionally with an offset',
      }
    : { value: instant };
};

const PARAMETERS = {
  cursor: { read: cursor, empty: 'bad' } satisfies Parameter<Uuid>,
  limit: { read: limit, empty: 'bad' } satisfies Parameter<number>,
  name: { read: text, empty: 'absent' } satisfies Parameter<string>,
  category: { read: text, empty: 'absent' } satisfies Parameter<string>,
  country: { read: country, empty: 'absent' } satisfies Parameter<string>,
  updatedAtGreaterThan: { read: dateTime, empty: 'bad' } satisfies Parameter<Instant>,
  updatedAtLessThan: { read: dateTime, empty: 'bad' } satisfies Parameter<Instant>,
};

export type ParameterName = keyof typeof PARAMETERS;

/** What every list takes. */
export const PAGE_PARAMETERS = ['cursor', 'limit'] as const;

type Value<Name extends ParameterName> = (typeof PARAMETERS)[Name] extends Parameter<infer T> ? T : never;
export type Query<Name extends ParameterName> = { readonly [N in Name]?: Value<N> };

/** Reads the named parameters from a query string without its question mark. */
export function parseQuery<Name extends ParameterName>(search: string, names: readonly Name[]): Query<Name> {
  if (search === '') return {};
  const given = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  const errors: ParameterError[] = [];
  for (const name of names) {
    const all = given.getAll(name);
    const [value] = all;
    if (value === undefined) continue;
    const result = readParameter(PARAMETERS[name], value, all.length);
    if (result === undefined) continue;
    if ('detail' in result) errors.push({ parameter: name, detail: result.detail });
    else values[name] = result.value;
  }
  if (errors.length > 0) {
    const list = errors.map((error) => `${error.parameter} ${error.detail}`).join('; ');
    throw new ApiError('invalid_parameter', `${list}.`, { errors });
  }
  return values as Query<Name>;
}

function readParameter(parameter: Parameter<unknown>, value: string, times: number) {
  if (times > 1) return { detail: 'must be given only once' };
  if (isTooLong(value)) return { detail: `must not be longer than ${VALUE_LENGTH_MAX} characters` };
  if (value !== '') return parameter.read(value);
  return parameter.empty === 'absent' ? undefined : { detail: 'must not be empty' };
}

/** Counts characters as JSON Schema does; the quick look first, as nearly all values are short. */
function isTooLong(value: string): boolean {
  return value.length > VALUE_LENGTH_MAX && [...value].length > VALUE_LENGTH_MAX;
}
