// Watches a PostgreSQL cluster for a server. Reports servers that accept writes although another has replaced them, and notices
// failovers. After a failover, compares the change clocks that this server has seen with those of the new primary. If the new
// primary is behind, changes were lost that clients may have received. Then all transactions of the organisation get new
// stamps, as after a restore, so that clients which continue from their watermarks end with the right copy.

import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { ClusterState } from '../../domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import { stampAll } from '../backup/new-timeline.ts';
import type { Connection, Database, FailoverRecords } from '../database.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';
import { advanceClock, lockClock } from '../stores/change-clock.ts';
import { readTransactionPage } from '../transactions/transaction-page.ts';
import { IDENTITY_SQL } from './server-search.ts';

const LOCK_TIMEOUT_MS = 10_000;

/** The timeline, and all change clocks as a JSON object, from one snapshot. One row, unless the server is a standby. */
const STATE_SQL = `
  SELECT current.timeline, timelines.id,
         EXISTS (SELECT 1 FROM timelines WHERE settled_at IS NULL) AS "isUnsettled",
         EXISTS (SELECT 1 FROM timeline_clocks WHERE lost_through IS NOT NULL AND restamped_at IS NULL) AS "isIncomplete",
         (SELECT json_object_agg(id, last_stamp)::text FROM organisations WHERE deleting_since IS NULL) AS clocks
    FROM (${IDENTITY_SQL}) AS current LEFT JOIN timelines USING (system, timeline)
   WHERE current.timeline IS NOT NULL`;

interface StateRow {
  readonly timeline: number;
  /** Null if the timeline is not recorded. */
  readonly id: number | null;
  readonly isUnsettled: boolean;
  readonly isIncomplete: boolean;
  readonly clocks: string | null;
}

export interface Failover {
  readonly timeline: number;
  /** Names of the organisations whose latest changes are missing. */
  readonly lost: readonly string[];
}

export interface ClusterOptions {
  /** Called when servers that have been replaced begin or cease to accept writes. */
  readonly onRivals: (rivals: readonly string[]) => void;
  readonly onFailover: (failover: Failover) => void;
  /** Called when no server can tell whether a failover lost changes. */
  readonly onUnsettled: () => void;
  readonly onRestamped: (result: { readonly org: string; readonly transactions: number }) => void;
  readonly onRestampFailed: (error: unknown) => void;
}

interface ClusterParts extends ClusterOptions {
  readonly database: Database;
  readonly failovers: FailoverRecords;
  readonly auditor: Auditor;
  /** Opens connections without timeouts, for stamping. */
  readonly openOwn: () => Database;
}

export class ClusterWatch {
  readonly #parts: ClusterParts;
  #rivals: readonly string[] = [];
  #timeline: number | undefined;
  #timelineId: number | undefined;
  #isUnsettled = false;
  #restamped = 0;
  /** The greatest Complete-Through that this server has announced or read for each organisation. */
  #knownMs = new Map<number, number>();
  #checking: Promise<void> | undefined;
  #restamping: Promise<void> | undefined;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
  }

  get state(): ClusterState {
    return {
      rivals: this.#rivals,
      timeline: this.#timeline,
      isUnsettled: this.#isUnsettled,
      restamped: this.#restamped,
    };
  }

  /** Call it about twice a second. Waits for a check in progress instead of starting another. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /**
   * Reads a page from the primary. If the page is complete only through an earlier stamp than this server or the client has
   * seen, a failover may have lost changes; it is then dealt with before the page is read again.
   */
  async readPage(query: TransactionQuery): Promise<TransactionPage> {
    const { orgId, atLeastMs = Number.NEGATIVE_INFINITY } = query;
    const clientMs = Number.isFinite(atLeastMs) ? atLeastMs : Number.NEGATIVE_INFINITY;
    const page = await this.#readOnOneTimeline(query);
    if (page.completeThroughMs >= Math.max(clientMs, this.#known(orgId))) return this.#announced(orgId, page);
    await this.check();
    const again = await this.#readOnOneTimeline(query);
    // A client can send any watermark, so only this server's own knowledge counts.
    if (again.completeThroughMs >= this.#known(orgId)) return this.#announced(orgId, again);
    throw new StorageError(
      'unavailable',
      'the database lacks changes that were announced before a failover; run: offerbook failover mark',
    );
  }

  /** While a check notices a failover, a page may still come from the old primary. */
  async #readOnOneTimeline(query: TransactionQuery): Promise<TransactionPage> {
    const { database } = this.#parts;
    const timelineId = this.#timelineId;
    const page = await readTransactionPage(database, query);
    return timelineId === this.#timelineId ? page : readTransactionPage(database, query);
  }

  #known(orgId: number): number {
    return this.#knownMs.get(orgId) ?? Number.NEGATIVE_INFINITY;
  }

  #announced(orgId: number, page: TransactionPage): TransactionPage {
    this.#note(orgId, page.completeThroughMs);
    return page;
  }

  async close(): Promise<void> {
    await this.#checking?.catch(() => {});
    await this.#restamping;
  }

  #note(orgId: number, completeThroughMs: number): void {
    if (completeThroughMs > this.#known(orgId)) this.#knownMs.set(orgId, completeThroughMs);
  }

  async #check(): Promise<void> {
    this.#noteRivals();
    let row = await this.#readState();
    if (row?.id === null) {
      await this.#parts.failovers.record(this.#parts.auditor);
      row = await this.#readState();
    }
    // A standby, a server that does not report its timeline, or a role that is not allowed to record it.
    if (row === undefined || row.id === null) return;
    if (this.#timeline !== undefined && row.timeline < this.#timeline)
      throw new StorageError(
        'unavailable',
        `PostgreSQL is on timeline ${row.timeline}, but this process has used timeline ${this.#timeline}`,
      );
    const clocks = new Map(
      Object.entries(JSON.parse(row.clocks ?? '{}') as Record<string, number>).map(([id, ms]) => [
        Number(id),
        ms,
      ]),
    );
    const hasFailedOver = this.#timelineId !== undefined && row.id !== this.#timelineId;
    if (hasFailedOver) {
      const lost = await this.#examine(this.#timelineId ?? 0);
      if (lost === undefined) return;
      this.#parts.onFailover({ timeline: row.timeline, lost });
    }
    this.#timeline = row.timeline;
    this.#timelineId = row.id;
    // Organisations that were deleted, or were lost themselves, have no clock any more.
    for (const orgId of this.#knownMs.keys()) if (!clocks.has(orgId)) this.#knownMs.delete(orgId);
    for (const [orgId, lastStampMs] of clocks) this.#note(orgId, lastStampMs);
    const { isUnsettled, isIncomplete } = (hasFailedOver ? await this.#readState() : row) ?? row;
    if (isUnsettled && !this.#isUnsettled) this.#parts.onUnsettled();
    this.#isUnsettled = isUnsettled;
    if (isIncomplete) this.#restamp();
  }

  async #readState(): Promise<StateRow | undefined> {
    try {
      const [row] = await this.#parts.database.all<StateRow>(STATE_SQL);
      return row;
    } catch (error) {
      if (isStorageError(error) && !isStorageError(error, 'denied')) throw error;
      return undefined;
    }
  }

  #noteRivals(): void {
    const rivals = this.#parts.database.rivals() ?? [];
    if (rivals.join() === this.#rivals.join()) return;
    this.#rivals = rivals;
    this.#parts.onRivals(rivals);
  }

  /**
   * Compares this server's knowledge with the clocks that the new primary had at the first failover after `timelineId`. Returns
   * the names of organisations that lost changes; undefined if a long write holds a lock, so that the next check tries again.
   */
  async #examine(timelineId: number): Promise<string[] | undefined> {
    const { database, auditor } = this.#parts;
    try {
      return await database.write(async (connection) => {
        type ClockRow = {
          timelineId: number;
          orgId: number;
          org: string;
          lastStampMs: number;
          movedToMs: number;
        };
        const rows = await connection.all<ClockRow>(
          `SELECT timeline_id AS "timelineId", org_id AS "orgId", name AS org, c.last_stamp AS "lastStampMs", moved_to AS "movedToMs"
             FROM timeline_clocks c JOIN organisations ON organisations.id = org_id
            WHERE timeline_id = (SELECT min(id) FROM timelines WHERE id > $1) AND deleting_since IS NULL ORDER BY org_id`,
          timelineId,
        );
        const lost: string[] = [];
        for (const row of rows) {
          const knownMs = this.#knownMs.get(row.orgId) ?? 0;
          if (knownMs <= row.lastStampMs) continue;
          lost.push(row.org);
          await noteLoss(connection, row, knownMs);
        }
        const nowMs = auditor.clock();
        await connection.all(
          'UPDATE timelines SET settled_at = $1 WHERE settled_at IS NULL AND id > $2',
          nowMs,
          timelineId,
        );
        return lost;
      }, LOCK_TIMEOUT_MS);
    } catch (error) {
      if (isStorageError(error, 'busy')) return undefined;
      // A role that only reads cannot repair anything. The failover stays unsettled unless another server can.
      if (isStorageError(error, 'denied')) return [];
      throw error;
    }
  }

  /** Runs in the background, in one server at a time. If interrupted, another server or the next start begins again. */
  #restamp(): void {
    this.#restamping ??= this.#restampAll()
      .catch((error: unknown) => this.#parts.onRestampFailed(error))
      .finally(() => {
        this.#restamping = undefined;
      });
  }

  async #restampAll(): Promise<void> {
    const { auditor, openOwn, onRestamped } = this.#parts;
    const own = openOwn();
    try {
      while (true) {
        const done = await own.write((connection) => restampNext(own, connection, auditor));
        if (done === undefined) return;
        this.#restamped += done.transactions;
        onRestamped(done);
      }
    } finally {
      await own.close();
    }
  }
}

/** Another server may have noted the loss already. The clock needs to move only if it was read from a fast machine's clock. */
async function noteLoss(
  connection: Connection,
  { timelineId, orgId, movedToMs }: { timelineId: number; orgId: number; movedToMs: number },
  knownMs: number,
): Promise<void> {
  if (knownMs > movedToMs) {
    await lockClock(connection, orgId);
    await advanceClock(connection, orgId, knownMs);
  }
  await connection.all(
    `UPDATE timeline_clocks SET lost_through = $3, moved_to = greatest(moved_to, $3), restamped_at = NULL
      WHERE timeline_id = $1 AND org_id = $2 AND (lost_through IS NULL OR moved_to < $3)`,
    timelineId,
    orgId,
    knownMs,
  );
}

/** Walks would miss the rows that have a later stamp now. Without its record, a walk shows current data. */
const FORGET_WALKS_SQL = 'DELETE FROM walks WHERE token_id IN (SELECT id FROM tokens WHERE org_id = $1)';

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
