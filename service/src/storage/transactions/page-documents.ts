// Joins the documents of a page into one string within a byte limit. A page ends before the document that would exceed the limit,
// but contains at least one document.
//
// Adding up lengths row by row would make every page much slower on SQLite. So each document gets an equal share of the bytes,
// and longer documents are left out. If any document was left out, FITTING_SQL adds up the lengths and joins only the documents
// that fit.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TransactionPage } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import type { Statement } from '../sql.ts';

export const NOTHING = new Uint8Array();

/** No limit in practice: a page has far fewer ids. */
export const IDS_MAX = 1_000_000;
/** Later than every stamp, so a page as of this stamp shows the current state. */
export const AS_OF_NOW = Number.MAX_SAFE_INTEGER;

export interface PageLimits {
  /** Maximum number of documents. */
  readonly limit: number;
  /** Maximum number of bytes, including the commas between documents. */
  readonly bytesMax: number;
}

/** Bytes per document when a statement joins limit + 1 documents, each with a comma. */
export function shareOf({ limit, bytesMax }: PageLimits): number {
  return Math.floor(bytesMax / (limit + 1)) - 1;
}

/** Selects the document unless it has more bytes than the parameter. Neither database reads the text to find its length. */
export function withinShare(param: string): string {
  return `CASE WHEN octet_length(document) <= ${param} THEN document END AS document`;
}

/**
 * Selects the version as of a stamp of a transaction of organisation $1, if it has since been replaced and its own stamp is at
 * most `stampMax`.
 */
export function earlierVersion(id: string, asOf: string, stampMax: string, field = 'document'): string {
  return `(
      SELECT ${field} FROM history
       WHERE id = ${id} AND +org_id = $1 AND until_stamp > ${asOf} AND from_stamp <= ${stampMax} ORDER BY until_stamp LIMIT 1
    )`;
}

/** The current documents of the ids $2 of organisation $1, in that order; without those of more than $3 bytes. */
export const DOCUMENTS_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT (SELECT ${withinShare('$3')} FROM transactions WHERE org_id = $1 AND id = v.value) AS document
      FROM ${sql.valuesTable('$2', 'uuid')}
  ) AS page`;

/**
 * Like DOCUMENTS_SQL, but as of the stamp $4, for a window that ends at $5. The inner LIMIT never cuts anything off, but without
 * it both databases would look up each version several times.
 */
export const DOCUMENTS_AS_OF_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT ${withinShare('$3')} FROM (
      SELECT ${versionAsOf('document')} AS document FROM ${sql.valuesTable('$2', 'uuid')} LIMIT ${IDS_MAX}
    ) AS versions
  ) AS page`;

/** As of the stamp $4, the first documents that fit into $3 bytes, including commas, but at least one document. */
export const FITTING_SQL: Statement = (sql) => `
  SELECT ${sql.joinDocuments} FROM (
    SELECT ${versionAsOf('document')} AS document FROM (
      SELECT value, sum(length + 1) OVER (ROWS UNBOUNDED PRECEDING) AS bytes, row_number() OVER () AS place FROM (
        SELECT v.value, ${versionAsOf('octet_length(document)')} AS length FROM ${sql.valuesTable('$2', 'uuid')}
      ) AS lengths
    ) AS v WHERE bytes - 1 <= $3 OR place = 1
  ) AS page`;

/** SQL for a field of the transaction `v.value` as of the stamp $4, for a window that ends at $5. */
export function versionAsOf(field: string, currentField = field): string {
  const current = `(SELECT ${currentField} FROM transactions WHERE org_id = $1 AND id = v.value)`;
  return `coalesce(${earlierVersion('v.value', '$4', '$5', field)}, ${current})`;
}

/** Joins the first documents that fit on a page. If `asOf` is undefined, reads the current versions. */
export async function joinDocuments(
  connection: Connection,
  orgId: number,
  ids: readonly Uuid[],
  limits: PageLimits,
  asOf?: { readonly asOfMs: number; readonly stampMaxMs: number },
) {
  const wanted = ids.slice(0, limits.limit);
  const { asOfMs, stampMaxMs } = asOf ?? { asOfMs: AS_OF_NOW, stampMaxMs: AS_OF_NOW };
  const read = async (statement: Statement, bytes: number, ...stamps: readonly number[]) => {
    const params = [orgId, JSON.stringify(wanted), bytes, ...stamps];
    type Row = { data: TransactionPage['data'] | null; joined: number };
    const [row] = await connection.allWithBytes<Row>(statement, ...params);
    return { data: row?.data ?? NOTHING, count: row?.joined ?? 0 };
  };
  const share = shareOf(limits);
  const joined =
    asOf === undefined
      ? await read(DOCUMENTS_SQL, share)
      : await read(DOCUMENTS_AS_OF_SQL, share, asOfMs, stampMaxMs);
  if (joined.count === wanted.length) return joined;
  return read(FITTING_SQL, limits.bytesMax, asOfMs, stampMaxMs);
}
