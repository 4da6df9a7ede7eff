// Joins the documents of a page into one text, within a limit of bytes. A page ends early where the next document would
// exceed the limit; it always has at least one.
//
// Adding up lengths row by row would make every page three times as slow on SQLite. So each document gets an equal
// share of the bytes, and longer ones are left out while joining. The database never builds a text beyond the limit, and
// a page on which nothing was left out is within it. Otherwise the lengths are read first, and only what fits is joined.

import type { TransactionPage } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Connection } from '../database.ts';
import { type Dialect, inBoth, VALUES } from '../sql-dialect.ts';

export const NOTHING = new Uint8Array();

export interface PageLimits {
  /** How many documents. */
  readonly limit: number;
  /** How many bytes, with the commas between the documents. */
  readonly bytesMax: number;
}

/** How long a document may be to be joined at once. One more than the limit is joined, and each has a comma. */
export function shareOf({ limit, bytesMax }: PageLimits): number {
  return Math.floor(bytesMax / (limit + 1)) - 1;
}

/** The document, unless it is longer than its share. Neither database reads a long text to tell its length. */
export function withinShare(param: string): string {
  return `CASE WHEN octet_length(document) <= ${param} THEN document END AS document`;
}

export const JOIN_DOCUMENTS = {
  sqlite: `CAST(group_concat(document, ',') AS BLOB) AS data, count(document) AS joined`,
  postgres: `string_agg(document, ',') AS data, count(document) AS joined`,
};

/** The documents of a list of ids, in its order. */
export const DOCUMENTS_SQL = inBoth(
  (dialect) => `
  SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
    SELECT (SELECT ${withinShare('$2')} FROM transactions WHERE id = v.value) AS document
      FROM ${VALUES[dialect]('$1', 'uuid')}
  ) AS page`,
);

/** The first of these documents, as many as fit with the commas between them, and one at least. Adds up lengths first. */
export const FITTING_SQL = inBoth(
  (dialect) => `
  SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
    SELECT (SELECT document FROM transactions WHERE id = fitting.value) AS document FROM (
      SELECT value, sum(length + 1) OVER (ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER () AS place FROM (
        SELECT v.value, (SELECT octet_length(document) FROM transactions WHERE id = v.value) AS length
          FROM ${VALUES[dialect]('$1', 'uuid')}
      ) AS lengths
    ) AS fitting WHERE bytes - 1 <= $2 OR place = 1
  ) AS page`,
);

export interface Joined {
  readonly data: TransactionPage['data'];
  /** How many documents these are. */
  readonly count: number;
}

/** The first documents of these ids, as many as a page holds. */
export async function joinDocuments(
  connection: Connection,
  dialect: Dialect,
  ids: readonly Uuid[],
  limits: PageLimits,
): Promise<Joined> {
  if (ids.length === 0) return { data: NOTHING, count: 0 };
  const wanted = ids.slice(0, limits.limit);
  const list = JSON.stringify(wanted);
  const read = async (sql: string, lengthMax: number) => {
    const [row] = await connection.allWithBytes<{ data: Joined['data']; joined: number }>(
      sql,
      list,
      lengthMax,
    );
    return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
  };
  const atOnce = await read(DOCUMENTS_SQL[dialect], shareOf(limits));
  return atOnce.count === wanted.length ? atOnce : read(FITTING_SQL[dialect], limits.bytesMax);
}
