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

export class Restamp {
  readonly #auditor: Auditor;
  readonly #logger: Logger;
  readonly #openOwn: () => Database;
  #running: Promise<void> | undefined;
  #own: Database | undefined;
  #isClosed = false;
  /** Number of transactions that got new stamps. */
  count = 0;

  /** `openOwn` opens connections without timeouts. */
  constructor(auditor: Auditor, logger: Logger, openOwn: () => Database) {
    this.#auditor = auditor;
    this.#logger = logger;
    this.#openOwn = openOwn;
  }

  start(): void {
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        if (!this.#isClosed)
          this.#logger.error(
            { err: error },
            'assigning new stamps after a failover failed; the server will retry',
          );
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#own?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const own = this.#openOwn();
    this.#own = own;
    try {
      while (!this.#isClosed) {
        const done = await own.write((connection) => restampNext(own, connection, this.#auditor));
        if (done === undefined) return;
        this.count += done.transactions;
        this.#logger.info(done, 'transactions have new stamps after a failover');
      }
    } finally {
      this.#own = undefined;
      await own.close();
    }
  }
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
