// Repairs lost changes after a failover: gives all transactions of the organisations new stamps, as after a restore, so that
// clients which continue from their watermarks end with the right copy. Runs in the background, in one server at a time. If
// interrupted, another server or the next start begins again.

import type { Logger } from '../../domain/logger.ts';
import { stampAll } from '../backup/new-timeline.ts';
import type { Connection, Database } from '../database.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';

/**
 * Deletes the records of an organisation's walks, because a walk as of an earlier stamp would miss the restamped rows. A walk
 * without a record shows current data.
 */
const FORGET_WALKS_SQL = 'DELETE FROM walks WHERE token_id IN (SELECT id FROM tokens WHERE org_id = $1)';

/** `openOwn` opens connections without timeouts. */
export function newRestamp(auditor: Auditor, logger: Logger, openOwn: () => Database) {
  let running: Promise<void> | undefined;
  let own: Database | undefined;
  let isClosed = false;
  let count = 0;

  async function run(): Promise<void> {
    const opened = openOwn();
    own = opened;
    try {
      while (!isClosed) {
        const done = await opened.write((connection) => restampNext(opened, connection, auditor));
        if (done === undefined) return;
        count += done.transactions;
        logger.info(done, 'transactions have new stamps after a failover');
      }
    } finally {
      own = undefined;
      await opened.close();
    }
  }

  return {
    /** Number of transactions that got new stamps. */
    get count(): number {
      return count;
    },
    start(): void {
      running ??= run()
        .catch((err: unknown) => {
          if (!isClosed)
            logger.error({ err }, 'assigning new stamps after a failover failed; the server will retry');
        })
        .finally(() => {
          running = undefined;
        });
    },
    async close(): Promise<void> {
      isClosed = true;
      await own?.close();
      await running;
    },
  };
}

/** Holds a row's lock while `own` stamps the organisation's transactions in batches. Returns undefined if there is no work. */
async function restampNext(
  own: Database,
  connection: Connection,
  auditor: Auditor,
): Promise<{ org: string; transactions: number } | undefined> {
  type WorkRow = { timelineId: number; orgId: number; org: string; movedToMs: number; lostThroughMs: number };
  const [work] = await connection.all<WorkRow>(
    `SELECT timeline_id AS "timelineId", org_id AS "orgId", name AS org, moved_to AS "movedToMs", lost_through AS "lostThroughMs"
       FROM timeline_clocks c JOIN organisations ON organisations.id = org_id
      WHERE lost_through IS NOT NULL AND restamped_at IS NULL AND deleting_since IS NULL
      ORDER BY timeline_id, org_id LIMIT 1 FOR UPDATE OF c SKIP LOCKED`,
  );
  if (work === undefined) return undefined;
  const { timelineId, orgId, org, movedToMs, lostThroughMs } = work;
  let transactions = 0;
  const count = (rows: number) => {
    transactions += rows;
  };
  await stampAll(own, auditor.clock, orgId, movedToMs, count, (batch) => batch.all(FORGET_WALKS_SQL, orgId));
  await connection.all(
    'UPDATE timeline_clocks SET restamped_at = $3 WHERE timeline_id = $1 AND org_id = $2',
    timelineId,
    orgId,
    auditor.clock(),
  );
  await writeAudit(connection, auditor, 'lost changes repaired', org, { lostThroughMs, transactions });
  return { org, transactions };
}
