// The query parameters of the operations. Every bad one is named at once, and so is one that is a misspelt one of ours;
// others are ignored, because clients add cache busters.

import { ApiError, type ParameterError } from '../../domain/api-errors.ts';
import { mistakenCountry } from '../../domain/country-code.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { dateTimeProblem, type Instant, parseInstant } from '../../domain/timestamp.ts';
import { parseUuid, type Uuid } from '../../domain/uuid.ts';
import { findNearMiss } from './near-miss.ts';

export const VALUE_LENGTH_MAX = 200;
const DATE_LENGTH = '2026-11-14'.length;

/** Reads a value, or says what is wrong with it. */
type Reader<T> = (text: string) => { value: T } | { detail: string };

interface Parameter<T> {
  readonly read: Reader<T>;
  /** Blanks around a word come from forms and spreadsheets; around anything else they are a mistake. */
  readonly trimmed?: boolean;
  /** Forms send empty fields, so an empty search is no search; an empty cursor would silently restart a walk. */
  readonly empty: 'absent' | 'bad';
}

const text: Reader<string> = (value) => ({ value });

const country: Reader<string> = (value) => {
  if (!/^[A-Za-z]{2}$/.test(value))
    return { detail: 'must be a country code of two letters (ISO 3166-1 alpha-2)' };
  const code = value.toUpperCase();
  const mistaken = mistakenCountry(code);
  return mistaken === undefined ? { value: code } : { detail: mistaken };
};

const cursor: Reader<Uuid> = (value) => {
  const uuid = parseUuid(value);
  return uuid === undefined ? { detail: 'must be a UUID: the cursor of the previous page' } : { value: uuid };
};

const limit: Reader<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= PAGE_SIZE_MAX
    ? { value: Number(value) }
    : { detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` };

const dateTime: Reader<Instant> = (value) => {
  // The plus of an offset may arrive as a blank: that is what a query string makes of an unescaped one. The blank behind
  // the date stands for the T.
  const written = value.slice(0, DATE_LENGTH + 1) + value.slice(DATE_LENGTH + 1).replace(' ', '+');
  const instant = parseInstant(written);
  return instant === undefined ? { detail: dateTimeProblem(written) } : { value: instant };
};

const PARAMETERS = {
  cursor: { read: cursor, empty: 'bad' } satisfies Parameter<Uuid>,
  limit: { read: limit, empty: 'bad' } satisfies Parameter<number>,
  name: { read: text, empty: 'absent', trimmed: true } satisfies Parameter<string>,
  category: { read: text, empty: 'absent', trimmed: true } satisfies Parameter<string>,
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
  errors.push(...misspeltParameters(given, names));
  if (errors.length > 0) {
    const list = errors.map((error) => `${error.parameter} ${error.detail}`).join('; ');
    throw new ApiError('invalid_parameter', `${list}.`, { errors });
  }
  return values as Query<Name>;
}

function misspeltParameters(given: URLSearchParams, names: readonly string[]): ParameterError[] {
  const others = new Set([...given.keys()].filter((name) => !names.includes(name)));
  return [...others].flatMap((parameter) => {
    const meant = findNearMiss(parameter, names);
    return meant === undefined ? [] : [{ parameter, detail: `is not a parameter; ${meant} is` }];
  });
}

function readParameter(parameter: Parameter<unknown>, given: string, times: number) {
  if (times > 1) return { detail: 'must be given only once' };
  if (isTooLong(given)) return { detail: `must not be longer than ${VALUE_LENGTH_MAX} characters` };
  const value = parameter.trimmed === true ? given.trim() : given;
  if (value !== '') return parameter.read(value);
  return parameter.empty === 'absent' ? undefined : { detail: 'must not be empty' };
}

/** Counts characters as JSON Schema does; the quick look first, as nearly all values are short. */
function isTooLong(value: string): boolean {
  return value.length > VALUE_LENGTH_MAX && [...value].length > VALUE_LENGTH_MAX;
}
