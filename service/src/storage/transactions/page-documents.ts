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

/** The version of a transaction at a moment, if it has been replaced since and its stamp was not beyond another one. */
export function earlierVersion(id: string, asOf: string, stampMax: string): string {
  return `(
      SELECT h.document FROM history h WHERE h.id = ${id} AND h.until_stamp > ${asOf} AND h.from_stamp <= ${stampMax}
       ORDER BY h.until_stamp LIMIT 1
    )`;
}

/** The documents of a list of ids, in its order: the first parameter is the list, the second the share. */
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

/** The versions of these transactions at a moment. */
const versionsSql = (dialect: Dialect, asOf: string, stampMax: string) => `
    SELECT coalesce(
      ${earlierVersion('v.value', asOf, stampMax)}, (SELECT document FROM transactions WHERE id = v.value)
    ) AS document FROM ${VALUES[dialect]('$1', 'uuid')}`;

/** The same two as of a moment: it and the greatest stamp of the window are the last parameters. */
export const DOCUMENTS_AS_OF_SQL = inBoth(
  (dialect) => `
  SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
    SELECT ${withinShare('$2')} FROM (${versionsSql(dialect, '$3', '$4')}) AS versions
  ) AS page`,
);
export const LENGTHS_AS_OF_SQL = inBoth(
  (dialect) => `
  SELECT octet_length(document) AS length FROM (${versionsSql(dialect, '$2', '$3')}) AS versions`,
);

export interface Joined {
  readonly data: TransactionPage['data'];
  /** How many documents these are. */
  readonly count: number;
}

export interface WantedDocuments {
  readonly ids: readonly Uuid[];
  /** As of which moment, and up to which stamp, where that may be another version than the current one. */
  readonly asOf?: { readonly ms: number; readonly stampMaxMs: number } | undefined;
}

/** The first documents of these ids, as many as a page holds. */
export async function joinDocuments(
  connection: Connection,
  dialect: Dialect,
  { ids, asOf }: WantedDocuments,
  limits: PageLimits,
): Promise<Joined> {
  const moment = asOf === undefined ? [] : [asOf.ms, asOf.stampMaxMs];
  const [documentsSql, lengthsSql] =
    asOf === undefined ? [DOCUMENTS_SQL, LENGTHS_SQL] : [DOCUMENTS_AS_OF_SQL, LENGTHS_AS_OF_SQL];

  async function join(some: readonly Uuid[], share: number): Promise<Joined> {
    if (some.length === 0) return { data: NOTHING, count: 0 };
    const [row] = await connection.allWithBytes<{ data: Joined['data'] | null; joined: number }>(
      documentsSql[dialect],
      JSON.stringify(some),
      share,
      ...moment,
    );
    return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
  }

  const wanted = ids.slice(0, limits.limit);
  const atOnce = await join(wanted, shareOf(limits));
  if (atOnce.count === wanted.length) return atOnce;
  const rows = await connection.all<{ length: number }>(
    lengthsSql[dialect],
    JSON.stringify(wanted),
    ...moment,
  );
  const lengths = rows.map(({ length }) => length);
  return join(wanted.slice(0, countFitting(lengths, limits.bytesMax)), UNLIMITED);
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
