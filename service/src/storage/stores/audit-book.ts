// Who changed what, besides imports. An entry is written by the transaction that makes the change.

import type { AuditAction, AuditEntry, AuditLog } from '../../domain/books.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Connection, Database } from '../database.ts';

/** Entries of a book that are older than this go when later ones are written. */
export const KEEP_MS = 400 * 86_400_000;

/** Older by the clock, $1, and by the entry before: nothing goes by one clock that is far ahead. */
export function forgetSql(book: 'audit' | 'imports', at: string): string {
  return `DELETE FROM ${book} WHERE ${at} < $1 AND ${at} < (SELECT ${at} FROM ${book} ORDER BY id DESC LIMIT 1) - ${KEEP_MS}`;
}

const FORGET_SQL = forgetSql('audit', 'at');

export interface Auditor {
  readonly clock: Clock;
  /** Who works with this database: a person and a machine. */
  readonly by: string;
}

/** Returns the number of the entry. */
export async function writeAudit(
  connection: Connection,
  { clock, by }: Auditor,
  action: AuditAction,
  org: string | null,
  details: AuditEntry['details'],
): Promise<number> {
  const nowMs = clock();
  await connection.all(FORGET_SQL, nowMs - KEEP_MS);
  const [row] = await connection.all<{ id: number }>(
    'INSERT INTO audit (at, made_by, action, org, details) VALUES ($1, $2, $3, $4, $5) RETURNING id',
    nowMs,
    by,
    action,
    org,
    JSON.stringify(details),
  );
  if (row === undefined) throw new Error('nothing was written to the audit');
  return row.id;
}

/** For work in several transactions: each of them brings the entry up to date, and the last may say that it is done. */
export async function amendAudit(
  connection: Connection,
  id: number,
  details: AuditEntry['details'],
  action: AuditAction | null = null,
): Promise<void> {
  await connection.all(
    'UPDATE audit SET details = $2, action = coalesce($3, action) WHERE id = $1',
    id,
    JSON.stringify(details),
    action,
  );
}

export function auditBook(database: Database): AuditLog {
  return {
    async list({ org, limit }) {
      const rows = await database.all<Omit<AuditEntry, 'details'> & { details: string }>(
        `SELECT id, at AS "atMs", made_by AS "by", action, org, details FROM audit
         ${org === undefined ? '' : 'WHERE org = $2'} ORDER BY id DESC LIMIT $1`,
        limit,
        ...(org === undefined ? [] : [org]),
      );
      return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as AuditEntry['details'] }));
    },
  };
}
