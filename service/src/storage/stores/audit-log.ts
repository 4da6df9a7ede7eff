// The audit log records who changed what, except for imports. Each entry is written in the same transaction as its change.

import { DAY_MS } from '@offerbook/wire/time.ts';
import type { AuditAction, AuditEntry, AuditLog } from '../../domain/audit-log.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Connection, Database } from '../database.ts';

/** Writing an entry deletes entries older than this. */
export const KEEP_MS = 400 * DAY_MS;

/**
 * Deletes entries that have expired according to both this machine's clock ($1) and the time of the last entry, so that a fast
 * clock does not delete recent entries.
 */
export function expireSql(log: 'audit' | 'imports', at: string): string {
  return `DELETE FROM ${log} WHERE ${at} < $1 AND ${at} < (SELECT ${at} FROM ${log} ORDER BY id DESC LIMIT 1) - ${KEEP_MS}`;
}

const EXPIRE_SQL = expireSql('audit', 'at');

export interface Auditor {
  readonly clock: Clock;
  /** User and machine. */
  readonly by: string;
}

/** Returns the id of the entry. */
export async function writeAudit(
  connection: Connection,
  { clock, by }: Auditor,
  action: AuditAction,
  org: string | null,
  details: AuditEntry['details'],
): Promise<number> {
  const nowMs = clock();
  await connection.all(EXPIRE_SQL, nowMs - KEEP_MS);
  const [row] = await connection.all<{ id: number }>(
    'INSERT INTO audit (at, made_by, action, org, details) VALUES ($1, $2, $3, $4, $5) RETURNING id',
    nowMs,
    by,
    action,
    org,
    JSON.stringify(details),
  );
  if (row === undefined) throw new Error('the audit entry was not written');
  return row.id;
}

/** Updates the entry of a change that takes several transactions. The last update can also replace the action. */
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

export function auditLog(database: Database): AuditLog {
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
