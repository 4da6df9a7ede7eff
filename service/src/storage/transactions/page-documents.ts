// Joins the documents of a page into one text, within a limit of bytes. A page ends early where the next document would
// exceed the limit; it always has at least one.
//
// Adding up lengths row by row would make every page three times as slow on SQLite. So each document gets an equal
// share of the bytes, and longer ones are left out while joining. The database never builds a text beyond the limit, and
// a page on which nothing was left out is within it. Otherwise the lengths are read first, and only what fits is joined.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TransactionPage } from '../../domain/stores.ts';
import type { Connection } from '../database.ts';
import { type Dialect, inBoth, VALUES } from '../sql-dialect.ts';

export const NOTHING = new Uint8Array();

/** More than a page ever holds. */
const IDS_MAX = 1_000_000;
/** As of now, for a column of 64 bits. */
export const LATEST_MS = Number.MAX_SAFE_INTEGER;

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
export function earlierVersion(id: string, asOf: string, stampMax: string, field = 'document'): string {
  return `(
      SELECT ${field} FROM history WHERE id = ${id} AND until_stamp > ${asOf} AND from_stamp <= ${stampMax}
       ORDER BY until_stamp LIMIT 1
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

/**
 * The same as of a moment: that and the greatest stamp of the window are two parameters more. The limit cuts nothing off,
 * but without it both databases would look for each version several times.
 */
export const DOCUMENTS_AS_OF_SQL = inBoth(
  (dialect) => `
  SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
    SELECT ${withinShare('$2')} FROM (
      SELECT ${versionAsOf('document')} AS document FROM ${VALUES[dialect]('$1', 'uuid')} LIMIT ${IDS_MAX}
    ) AS versions
  ) AS page`,
);

/**
 * As of a moment, the first of these documents, as many as fit with the commas between them, and one at least. Adds up
 * lengths first.
 */
export const FITTING_SQL = inBoth(
  (dialect) => `
  SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
    SELECT ${versionAsOf('document')} AS document FROM (
      SELECT value, sum(length + 1) OVER (ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER () AS place FROM (
        SELECT v.value, ${versionAsOf('octet_length(document)')} AS length FROM ${VALUES[dialect]('$1', 'uuid')}
      ) AS lengths
    ) AS v WHERE bytes - 1 <= $2 OR place = 1
  ) AS page`,
);

function versionAsOf(field: string): string {
  const current = `(SELECT ${field} FROM transactions WHERE id = v.value)`;
  return `coalesce(${earlierVersion('v.value', '$3', '$4', field)}, ${current})`;
}

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
  const wanted = ids.slice(0, limits.limit);
  if (wanted.length === 0) return { data: NOTHING, count: 0 };
  const list = JSON.stringify(wanted);
  const read = async (sql: string, lengthMax: number, ...moment: readonly number[]) => {
    const [row] = await connection.allWithBytes<{ data: Joined['data']; joined: number }>(
      sql,
      list,
      lengthMax,
      ...moment,
    );
    return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
  };
  const share = shareOf(limits);
  const atOnce = await (asOf === undefined
    ? read(DOCUMENTS_SQL[dialect], share)
    : read(DOCUMENTS_AS_OF_SQL[dialect], share, asOf.ms, asOf.stampMaxMs));
  if (atOnce.count === wanted.length) return atOnce;
  const { ms, stampMaxMs } = asOf ?? { ms: LATEST_MS, stampMaxMs: LATEST_MS };
  return read(FITTING_SQL[dialect], limits.bytesMax, ms, stampMaxMs);
}
