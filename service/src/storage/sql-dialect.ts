// SQL that the two databases write differently, where it is needed in more than one place.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Database, SqlValue } from './database.ts';

export type Dialect = Database['dialect'];

/** A statement in both, made once: a page should not have to put its statements together. */
export function inBoth<T = string>(make: (dialect: Dialect) => T): Readonly<Record<Dialect, T>> {
  return { sqlite: make('sqlite'), postgres: make('postgres') };
}

/** A parameter that holds a JSON list, as a table `v` with a column `value`, in the order of the list. */
export const VALUES = {
  sqlite: (param: string, _type: 'bigint' | 'uuid') => `json_each(${param}) AS v`,
  postgres: (param: string, type: 'bigint' | 'uuid') =>
    `(SELECT value::${type} AS value FROM json_array_elements_text(${param}::text::json)) AS v`,
};

/** The rest of a condition: a column is one of those that a statement finds. PostgreSQL goes to them in its order. */
export const isOneOf = (dialect: Dialect, select: string) =>
  dialect === 'sqlite' ? `IN (${select})` : `= ANY (ARRAY (${select}))`;

/** Ends a SELECT whose rows are locked until the commit. SQLite has one writer, which has waited already. */
export const forUpdate = (dialect: Dialect) => (dialect === 'postgres' ? 'FOR UPDATE' : '');

/** The function that tells where a text has another one, and 0 where it has not. */
export const CONTAINS: Readonly<Record<Dialect, string>> = { sqlite: 'instr', postgres: 'strpos' };

/** A list as PostgreSQL writes an array, for a parameter that is a text and is cast to one. */
export function arrayText(values: readonly SqlValue[]): string {
  const quoted = values.map((value) =>
    value === null ? 'NULL' : `"${String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(',')}}`;
}

/** The ids that a statement finds, in one text, so that one which reads several lists has one row for each. */
export const JOIN_IDS = { sqlite: 'group_concat(id)', postgres: `string_agg(id::text, ',')` };

/** Null when there were none to join. */
export function splitIds(text: string | null): Uuid[] {
  return text === null ? [] : (text.split(',') as Uuid[]);
}
