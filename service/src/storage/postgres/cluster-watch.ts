// Watches a PostgreSQL cluster for a server. Reports servers that accept writes although another has replaced them, and notices
// failovers. After a failover, compares the change clocks that this server has seen with those of the new primary. If the new
// primary is behind, changes were lost that clients may have received, and restamp.ts repairs them.

import type { Logger } from '../../domain/logger.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { ClusterState } from '../../domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Database } from '../database.ts';
import type { Auditor } from '../stores/audit-log.ts';
import { readTransactionPage } from '../transactions/transaction-page.ts';
import {
  type ClockRow,
  CURRENT_SQL,
  type CurrentRow,
  readClocksAfter,
  readIfReported,
  settleAfter,
} from './failovers.ts';
import type { Replica } from './replica.ts';
import { newRestamp } from './restamp.ts';
import { IDENTITY_SQL } from './server-search.ts';

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

/** Stamps in milliseconds, by organisation number. */
type Clocks = ReadonlyMap<number, number>;

interface ClusterParts {
  readonly database: Database;
  readonly auditor: Auditor;
  readonly logger: Logger;
  readonly replica: Pick<Replica, 'findPage'> | undefined;
  /** Opens connections without timeouts, for stamping. */
  readonly openOwn: () => Database;
}

export function watchCluster({ database, auditor, logger, replica, openOwn }: ClusterParts) {
  const restamp = newRestamp(auditor, logger, openOwn);
  let rivals: readonly string[] = [];
  /** The timeline at the last check. Undefined before the first check, or if the server does not report it. */
  let last: Pick<StateRow, 'timeline' | 'id'> | undefined;
  let isUnsettled = false;
  /** The greatest Complete-Through that this server has announced or read for each organisation. */
  const knownMs = new Map<number, number>();
  /** Each organisation's change clock at the last check, as read on the timeline of `last`. */
  let checkedMs: Clocks = new Map();
  /** Complete-Through of the pages since the last check. Only the next check shows which timeline they were read on. */
  const announcedMs = new Map<number, Set<number>>();
  /**
   * The clocks after the last failover. A standby that has not reached them may follow the old primary. Each failover that this
   * server notices replaces the map, so a page whose read began with an earlier map may come from the old primary.
   */
  let movedMs: Clocks = new Map();
  let checking: Promise<void> | undefined;

  function check(): Promise<void> {
    checking ??= runCheck().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  async function readReplica(query: TransactionQuery): Promise<TransactionPage | 'behind' | undefined> {
    const begun = movedMs;
    const page = await replica?.findPage({ ...query, atLeastMs: neededMs(query) });
    if (page === undefined || page === 'behind') return page;
    return begun === movedMs ? announce(query, page) : undefined;
  }

  /** The stamp through which a replica must be complete. */
  function neededMs({ orgId, atLeastMs = Number.NEGATIVE_INFINITY }: TransactionQuery): number {
    return Math.max(atLeastMs, movedMs.get(orgId) ?? Number.NEGATIVE_INFINITY);
  }

  async function readPrimary(query: TransactionQuery): Promise<TransactionPage> {
    const { atLeastMs = Number.NEGATIVE_INFINITY } = query;
    const clientMs = Number.isFinite(atLeastMs) ? atLeastMs : Number.NEGATIVE_INFINITY;
    const page = await tryPrimary(query);
    // A client can send any watermark. It proves nothing as long as the timeline is the same.
    if (page !== undefined && (page.completeThroughMs >= clientMs || (await isSameTimeline()))) return page;
    await check();
    const again = await tryPrimary(query);
    if (again !== undefined) return again;
    throw new StorageError(
      'unavailable',
      'the database lacks changes that were announced before a failover; run: offerbook failover mark',
    );
  }

  /** True if the database is on the timeline of the last check. Cheaper than check(), which reads every change clock. */
  async function isSameTimeline(): Promise<boolean> {
    const [current] = await database.all<CurrentRow>(CURRENT_SQL);
    return current !== undefined && current.id !== null && current.id === last?.id;
  }

  /** Returns undefined if the page lacks changes that this server knew when the read began, or was read during a failover. */
  async function tryPrimary(query: TransactionQuery): Promise<TransactionPage | undefined> {
    const { orgId } = query;
    const [begun, knownBefore] = [movedMs, known(orgId)];
    const page = await readTransactionPage(database, query);
    // While a check is processing a failover, a page may still come from the old primary.
    const needed = begun === movedMs ? knownBefore : known(orgId);
    return page.completeThroughMs >= needed ? announce(query, page) : undefined;
  }

  function known(orgId: number): number {
    return knownMs.get(orgId) ?? Number.NEGATIVE_INFINITY;
  }

  function announce({ orgId }: TransactionQuery, page: TransactionPage): TransactionPage {
    note(orgId, page.completeThroughMs);
    announcedMs.getOrInsertComputed(orgId, () => new Set()).add(page.completeThroughMs);
    return page;
  }

  function note(orgId: number, completeThroughMs: number): void {
    if (completeThroughMs > known(orgId)) knownMs.set(orgId, completeThroughMs);
  }

  async function runCheck(): Promise<void> {
    noteRivals();
    const read = () => readIfReported<StateRow>(database, STATE_SQL);
    let row = await read();
    if (row?.id === null) {
      await database.recordFailover(auditor);
      row = await read();
    }
    // A standby, a server that does not report its timeline, or a role that is not allowed to record it.
    if (row === undefined || row.id === null) return;
    if (last !== undefined && row.timeline < last.timeline)
      throw new StorageError(
        'unavailable',
        `PostgreSQL is on timeline ${row.timeline}, but this process has used timeline ${last.timeline}`,
      );
    const clocks: Clocks = new Map(
      Object.entries<number>(JSON.parse(row.clocks ?? '{}')).map(([id, ms]) => [Number(id), ms]),
    );
    // An organisation has no clock if it was deleted, or if the failover lost the organisation itself.
    for (const orgId of knownMs.keys()) if (!clocks.has(orgId)) knownMs.delete(orgId);
    for (const [orgId, lastStampMs] of clocks) note(orgId, lastStampMs);
    const hasFailedOver = last !== undefined && row.id !== last.id;
    if (hasFailedOver) {
      // From now on, pages of the old primary are discarded, so examine() sees every stamp that was announced.
      movedMs = clocks;
      const lost = await examine(last?.id ?? 0);
      if (lost === undefined) return;
      logFailover(row.timeline, lost);
    }
    last = { timeline: row.timeline, id: row.id };
    checkedMs = clocks;
    forgetAnnounced(clocks);
    const settled = (hasFailedOver ? await read() : row) ?? row;
    if (settled.isUnsettled && !isUnsettled)
      logger.error(
        'PostgreSQL has failed over, and no server knows whether changes were lost; see docs/operations/failover.md',
      );
    isUnsettled = settled.isUnsettled;
    if (settled.isIncomplete) restamp.start();
  }

  /**
   * Deletes the announced stamps that the change clocks have reached. Later stamps come from pages that were read after `clocks`.
   */
  function forgetAnnounced(clocks: Clocks): void {
    for (const [orgId, stamps] of announcedMs) {
      const clockMs = clocks.get(orgId) ?? Number.POSITIVE_INFINITY;
      for (const stampMs of stamps) if (stampMs <= clockMs) stamps.delete(stampMs);
      if (stamps.size === 0) announcedMs.delete(orgId);
    }
  }

  function noteRivals(): void {
    const found = database.rivals();
    if (found.join() === rivals.join()) return;
    rivals = found;
    if (rivals.length === 0) logger.info('only the primary accepts writes');
    else logger.warn({ rivals }, 'former PostgreSQL primaries still accept writes; stop them');
  }

  function logFailover(timeline: number, lost: readonly string[]): void {
    if (lost.length === 0) logger.info({ timeline }, 'PostgreSQL has failed over; no change was lost');
    else
      logger.error(
        { timeline, lost },
        'PostgreSQL has failed over and lost changes; all transactions of these organisations will get new stamps',
      );
  }

  /**
   * Compares the stamps that this server has seen with the clocks that new primaries had at the failovers after `timelineId`.
   * Returns the names of organisations that lost changes; undefined if a long write holds a lock, so that the next check retries.
   */
  async function examine(timelineId: number): Promise<string[] | undefined> {
    // Copied before the clocks are read, so that no page of the new primary is ahead of them.
    const announced = new Map([...announcedMs].map(([orgId, stamps]) => [orgId, [...stamps]]));
    const losses = (await readClocksAfter(database, timelineId)).flatMap((row) => {
      const lostThroughMs = findLost(row, checkedMs.get(row.orgId) ?? 0, announced.get(row.orgId) ?? []);
      return lostThroughMs === undefined ? [] : [{ ...row, lostThroughMs }];
    });
    try {
      await settleAfter(database, timelineId, losses, auditor.clock());
    } catch (error) {
      if (isStorageError(error, 'busy')) return undefined;
      // A read-only role cannot write the record. The failover stays unsettled until another server settles it.
      if (!isStorageError(error, 'denied')) throw error;
    }
    return [...new Set(losses.map(({ org }) => org))];
  }

  return {
    /** Call it about twice a second. Waits for a check in progress instead of starting another. */
    check,

    get state(): ClusterState {
      return { rivals, timeline: last?.timeline, isUnsettled, restamped: restamp.count };
    },

    /**
     * Reads a page from the replica or the primary. A failover may have lost changes if this server or the client has seen a
     * later stamp than the primary's page is complete through. In that case, check() runs and the page is read again.
     */
    async readPage(query: TransactionQuery): Promise<TransactionPage> {
      const replicated = await readReplica(query);
      if (replicated === undefined) return readPrimary(query);
      if (replicated !== 'behind') return replicated;
      // Newer changes may not have reached any standby, and a failover could lose them, so the page ends at the requested stamp.
      const { asOfMs = neededMs(query) } = query;
      const page = await readPrimary({ ...query, asOfMs });
      return { ...page, completeThroughMs: Math.min(page.completeThroughMs, asOfMs) };
    },

    async close(): Promise<void> {
      await checking?.catch(() => {});
      await restamp.close();
    },
  };
}

/**
 * Returns the last stamp that this server has seen and the new primary did not have; undefined if there is none. A page
 * since the last check may come from the new primary if it is complete through a stamp between `movedToMs` and `clockMs`, so it
 * proves no loss.
 */
export function findLost(
  { lastStampMs, movedToMs, clockMs }: Pick<ClockRow, 'lastStampMs' | 'movedToMs' | 'clockMs'>,
  checkedMs: number,
  announced: readonly number[],
): number | undefined {
  const ofOldPrimary = announced.filter((stampMs) => stampMs < movedToMs || stampMs > clockMs);
  const lastMs = Math.max(checkedMs, ...ofOldPrimary);
  return lastMs > lastStampMs ? lastMs : undefined;
}
