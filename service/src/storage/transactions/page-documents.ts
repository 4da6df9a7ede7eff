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
/** A share that leaves no document out. */
const UNLIMITED = 2 ** 31 - 1;

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

/** The lengths of the same documents. */
export const LENGTHS_SQL = inBoth(
  (dialect) => `
  SELECT (SELECT octet_length(document) FROM transactions WHERE id = v.value) AS length
    FROM ${VALUES[dialect]('$1', 'uuid')}`,
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
  const wanted = ids.slice(0, limits.limit);
  const atOnce = await join(connection, dialect, wanted, shareOf(limits));
  if (atOnce.count === wanted.length) return atOnce;
  const rows = await connection.all<{ length: number }>(LENGTHS_SQL[dialect], JSON.stringify(wanted));
  const count = countFitting(
    rows.map(({ length }) => length),
    limits.bytesMax,
  );
  return join(connection, dialect, wanted.slice(0, count), UNLIMITED);
}

async function join(
  connection: Connection,
  dialect: Dialect,
  ids: readonly Uuid[],
  share: number,
): Promise<Joined> {
  if (ids.length === 0) return { data: NOTHING, count: 0 };
  const [row] = await connection.allWithBytes<{ data: Joined['data'] | null; joined: number }>(
    DOCUMENTS_SQL[dialect],
    JSON.stringify(ids),
    share,
  );
  return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
}

/** How many of these lengths, from the first one on, fit with commas between them; at least one. */
function countFitting(lengths: readonly number[], bytesMax: number): number {
  let bytes = -1;
  const end = lengths.findIndex((length) => {
    bytes += length + 1;
    return bytes > bytesMax;
  });
  return end === -1 ? lengths.length : Math.max(1, end);
}
