// Watches a PostgreSQL cluster for a server. Reports servers that accept writes although another has replaced them, and notices
// failovers. After a failover, compares the change clocks that this server has seen with those of the new primary. If the new
// primary is behind, changes were lost that clients may have received, and restamp.ts repairs them.

import type { Logger } from '../../domain/logger.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { ClusterState } from '../../domain/stores.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Database, FailoverRecords } from '../database.ts';
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
import { Restamp } from './restamp.ts';
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

interface ClusterParts {
  readonly database: Database;
  readonly failovers: FailoverRecords;
  readonly auditor: Auditor;
  readonly logger: Logger;
  readonly replica: Pick<Replica, 'findPage'> | undefined;
  /** Opens connections without timeouts, for stamping. */
  readonly openOwn: () => Database;
}

export class ClusterWatch {
  readonly #parts: ClusterParts;
  readonly #restamp: Restamp;
  #rivals: readonly string[] = [];
  #timeline: number | undefined;
  #timelineId: number | undefined;
  #isUnsettled = false;
  /** The greatest Complete-Through that this server has announced or read for each organisation. */
  readonly #knownMs = new Map<number, number>();
  /** Each organisation's change clock at the last check, as read on the timeline `#timelineId`. */
  #checkedMs = new Map<number, number>();
  /** Complete-Through of the pages since the last check. Only the next check shows which timeline they were read on. */
  readonly #announcedMs = new Map<number, Set<number>>();
  /** The clocks after the last failover. A standby that has not reached them may follow the old primary. */
  #movedMs = new Map<number, number>();
  /** Number of failovers that this server has noticed. */
  #failovers = 0;
  #checking: Promise<void> | undefined;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.#restamp = new Restamp(parts.auditor, parts.logger, parts.openOwn);
  }

  get state(): ClusterState {
    return {
      rivals: this.#rivals,
      timeline: this.#timeline,
      isUnsettled: this.#isUnsettled,
      restamped: this.#restamp.count,
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
   * Reads a page from the replica or the primary. A failover may have lost changes if this server or the client has seen a
   * later stamp than the primary's page is complete through. In that case, check() runs and the page is read again.
   */
  async readPage(query: TransactionQuery): Promise<TransactionPage> {
    const replicated = await this.#readReplica(query);
    if (replicated === undefined) return this.#readPrimary(query);
    if (replicated !== 'behind') return replicated;
    // Newer changes may not have reached any standby, and a failover could lose them, so the page ends at the requested stamp.
    const { asOfMs = this.#neededMs(query) } = query;
    const page = await this.#readPrimary({ ...query, asOfMs });
    return { ...page, completeThroughMs: Math.min(page.completeThroughMs, asOfMs) };
  }

  async #readReplica(query: TransactionQuery): Promise<TransactionPage | 'behind' | undefined> {
    const failovers = this.#failovers;
    const page = await this.#parts.replica?.findPage({ ...query, atLeastMs: this.#neededMs(query) });
    if (page === undefined || page === 'behind') return page;
    return failovers === this.#failovers ? this.#announce(query, page) : undefined;
  }

  /** The stamp through which a replica must be complete. */
  #neededMs({ orgId, atLeastMs = Number.NEGATIVE_INFINITY }: TransactionQuery): number {
    return Math.max(atLeastMs, this.#movedMs.get(orgId) ?? Number.NEGATIVE_INFINITY);
  }

  async #readPrimary(query: TransactionQuery): Promise<TransactionPage> {
    const { atLeastMs = Number.NEGATIVE_INFINITY } = query;
    const clientMs = Number.isFinite(atLeastMs) ? atLeastMs : Number.NEGATIVE_INFINITY;
    const page = await this.#tryPrimary(query);
    // A client can send any watermark. It proves nothing as long as the timeline is the same.
    if (page !== undefined && (page.completeThroughMs >= clientMs || (await this.#isSameTimeline())))
      return page;
    await this.check();
    const again = await this.#tryPrimary(query);
    if (again !== undefined) return again;
    throw new StorageError(
      'unavailable',
      'the database lacks changes that were announced before a failover; run: offerbook failover mark',
    );
  }

  /** True if the database is on the timeline of the last check. Cheaper than check(), which reads every change clock. */
  async #isSameTimeline(): Promise<boolean> {
    const [current] = await this.#parts.database.all<CurrentRow>(CURRENT_SQL);
    return current !== undefined && current.id !== null && current.id === this.#timelineId;
  }

  /** Returns undefined if the page lacks changes that this server knew when the read began, or was read during a failover. */
  async #tryPrimary(query: TransactionQuery): Promise<TransactionPage | undefined> {
    const { orgId } = query;
    const [failovers, knownMs] = [this.#failovers, this.#known(orgId)];
    const page = await readTransactionPage(this.#parts.database, query);
    // While a check is processing a failover, a page may still come from the old primary.
    const neededMs = failovers === this.#failovers ? knownMs : this.#known(orgId);
    return page.completeThroughMs >= neededMs ? this.#announce(query, page) : undefined;
  }

  #known(orgId: number): number {
    return this.#knownMs.get(orgId) ?? Number.NEGATIVE_INFINITY;
  }

  #announce({ orgId }: TransactionQuery, page: TransactionPage): TransactionPage {
    this.#note(orgId, page.completeThroughMs);
    const announced = this.#announcedMs.get(orgId) ?? new Set();
    this.#announcedMs.set(orgId, announced.add(page.completeThroughMs));
    return page;
  }

  async close(): Promise<void> {
    await this.#checking?.catch(() => {});
    await this.#restamp.close();
  }

  #note(orgId: number, completeThroughMs: number): void {
    if (completeThroughMs > this.#known(orgId)) this.#knownMs.set(orgId, completeThroughMs);
  }

  async #check(): Promise<void> {
    this.#noteRivals();
    const read = () => readIfReported<StateRow>(this.#parts.database, STATE_SQL);
    let row = await read();
    if (row?.id === null) {
      await this.#parts.failovers.record(this.#parts.auditor);
      row = await read();
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
    // An organisation has no clock if it was deleted, or if the failover lost the organisation itself.
    for (const orgId of this.#knownMs.keys()) if (!clocks.has(orgId)) this.#knownMs.delete(orgId);
    for (const [orgId, lastStampMs] of clocks) this.#note(orgId, lastStampMs);
    const hasFailedOver = this.#timelineId !== undefined && row.id !== this.#timelineId;
    if (hasFailedOver) {
      // From now on, pages of the old primary are discarded, so #examine() sees every stamp that was announced.
      this.#failovers += 1;
      this.#movedMs = clocks;
      const lost = await this.#examine(this.#timelineId ?? 0);
      if (lost === undefined) return;
      this.#logFailover(row.timeline, lost);
    }
    this.#timeline = row.timeline;
    this.#timelineId = row.id;
    this.#checkedMs = clocks;
    this.#forgetAnnounced(clocks);
    const { isUnsettled, isIncomplete } = (hasFailedOver ? await read() : row) ?? row;
    if (isUnsettled && !this.#isUnsettled)
      this.#parts.logger.error(
        'PostgreSQL has failed over, and no server knows whether changes were lost; see docs/operations/failover.md',
      );
    this.#isUnsettled = isUnsettled;
    if (isIncomplete) this.#restamp.start();
  }

  /** Deletes the announced stamps that the change clocks have reached. Later stamps come from pages that were read after `clocks`. */
  #forgetAnnounced(clocks: ReadonlyMap<number, number>): void {
    for (const [orgId, stamps] of this.#announcedMs) {
      const clockMs = clocks.get(orgId) ?? Number.POSITIVE_INFINITY;
      for (const stampMs of stamps) if (stampMs <= clockMs) stamps.delete(stampMs);
      if (stamps.size === 0) this.#announcedMs.delete(orgId);
    }
  }

  #noteRivals(): void {
    const rivals = this.#parts.database.rivals() ?? [];
    if (rivals.join() === this.#rivals.join()) return;
    this.#rivals = rivals;
    const { logger } = this.#parts;
    if (rivals.length === 0) logger.info('only the primary accepts writes');
    else logger.warn({ rivals }, 'former PostgreSQL primaries still accept writes; stop them');
  }

  #logFailover(timeline: number, lost: readonly string[]): void {
    const { logger } = this.#parts;
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
  async #examine(timelineId: number): Promise<string[] | undefined> {
    const { database, auditor } = this.#parts;
    // Copied before the clocks are read, so that no page of the new primary is ahead of them.
    const announced = new Map([...this.#announcedMs].map(([orgId, stamps]) => [orgId, [...stamps]]));
    const losses = (await readClocksAfter(database, timelineId)).flatMap((row) => {
      const lostThroughMs = this.#findLost(row, announced.get(row.orgId) ?? []);
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

  /**
   * Returns the last stamp that this server has seen and the new primary did not have; undefined if there is none. A page
   * since the last check may come from the new primary if it is complete through a stamp between `movedToMs` and `clockMs`, so it
   * proves no loss.
   */
  #findLost(row: ClockRow, announcedMs: readonly number[]): number | undefined {
    const { orgId, lastStampMs, movedToMs, clockMs } = row;
    const ofOldPrimary = announcedMs.filter((stampMs) => stampMs < movedToMs || stampMs > clockMs);
    const lastMs = Math.max(this.#checkedMs.get(orgId) ?? 0, ...ofOldPrimary);
    return lastMs > lastStampMs ? lastMs : undefined;
  }
}
