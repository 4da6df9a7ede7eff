// Joins the documents of a page into one string, within a limit of bytes. A page ends before the document that would exceed
// the limit, but has at least one.
//
// Adding up lengths row by row would make every page much slower on SQLite. So each document gets an equal share of the bytes,
// and longer ones are left out while joining: the database never builds a string beyond the limit, and a page with all its
// documents is within it. If one was left out, FITTING_SQL adds up the lengths first and joins only what fits.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TransactionPage } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import type { Statement } from '../sql.ts';

export const NOTHING = new Uint8Array();

/** More ids than a page can have. */
const IDS_MAX = 1_000_000;
/** As of now: after every stamp. */
export const LATEST_MS = Number.MAX_SAFE_INTEGER;

export interface PageLimits {
  /** Number of documents. */
  readonly limit: number;
  /** Bytes, including the commas between the documents. */
  readonly bytesMax: number;
}

/** The longest document that is joined in the first attempt. That attempt joins limit + 1 documents, each with a comma. */
export function shareOf({ limit, bytesMax }: PageLimits): number {
  return Math.floor(bytesMax / (limit + 1)) - 1;
}

/** Selects the document unless it is longer than its share. Neither database reads the text to find its length. */
export function withinShare(param: string): string {
  return `CASE WHEN octet_length(document) <= ${param} THEN document END AS document`;
}

/** The version of a transaction as of a stamp, if it was replaced since and its own stamp is at most `stampMax`. */
export function earlierVersion(id: string, asOf: string, stampMax: string, field = 'document'): string {
  return `(
      SELECT ${field} FROM history WHERE id = ${id} AND until_stamp > ${asOf} AND from_stamp <= ${stampMax}
       ORDER BY until_stamp LIMIT 1
    )`;
}

/** The current documents of the ids $1, in that order. $2: the share. */
export const DOCUMENTS_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT (SELECT ${withinShare('$2')} FROM transactions WHERE id = v.value) AS document
      FROM ${sql.valuesTable('$1', 'uuid')}
  ) AS page`;

/**
 * The same as of the stamp $3, for a window that ends at $4. The inner limit cuts nothing off; without it, both databases
 * would look up each version several times.
 */
export const DOCUMENTS_AS_OF_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT ${withinShare('$2')} FROM (
      SELECT ${versionAsOf('document')} AS document FROM ${sql.valuesTable('$1', 'uuid')} LIMIT ${IDS_MAX}
    ) AS versions
  ) AS page`;

/** As of a stamp, the first documents that fit into $2 bytes with their commas, and at least one. */
export const FITTING_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT ${versionAsOf('document')} AS document FROM (
      SELECT value, sum(length + 1) OVER (ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER () AS place FROM (
        SELECT v.value, ${versionAsOf('octet_length(document)')} AS length FROM ${sql.valuesTable('$1', 'uuid')}
      ) AS lengths
    ) AS v WHERE bytes - 1 <= $2 OR place = 1
  ) AS page`;

function versionAsOf(field: string): string {
  const current = `(SELECT ${field} FROM transactions WHERE id = v.value)`;
  return `coalesce(${earlierVersion('v.value', '$3', '$4', field)}, ${current})`;
}

export interface Joined {
  readonly data: TransactionPage['data'];
  /** Number of documents. */
  readonly count: number;
}

export interface WantedDocuments {
  readonly ids: readonly Uuid[];
  /** Read as of this stamp, for a window that ends at `stampMaxMs`. Undefined if all current versions are right. */
  readonly asOf?: { readonly ms: number; readonly stampMaxMs: number } | undefined;
}

/** Joins the first documents of these ids, as many as fit on a page. */
export async function joinDocuments(
  connection: Connection,
  { ids, asOf }: WantedDocuments,
  limits: PageLimits,
): Promise<Joined> {
  const wanted = ids.slice(0, limits.limit);
  if (wanted.length === 0) return { data: NOTHING, count: 0 };
  const list = JSON.stringify(wanted);
  const read = async (statement: Statement, lengthMax: number, ...moment: readonly number[]) => {
    const [row] = await connection.allWithBytes<{ data: Joined['data']; joined: number }>(
      statement,
      list,
      lengthMax,
      ...moment,
    );
    return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
  };
  const share = shareOf(limits);
  const atOnce = await (asOf === undefined
    ? read(DOCUMENTS_SQL, share)
    : read(DOCUMENTS_AS_OF_SQL, share, asOf.ms, asOf.stampMaxMs));
  if (atOnce.count === wanted.length) return atOnce;
  const { ms, stampMaxMs } = asOf ?? { ms: LATEST_MS, stampMaxMs: LATEST_MS };
  return read(FITTING_SQL, limits.bytesMax, ms, stampMaxMs);
}
