// Records clicks. Clicks that arrive during a commit share the next commit. The user must reach the shop, and the click must
// not be lost: if the database is slow or unreachable, clicks go to the spool, a local file, and move to the database once it
// has recovered. Writes are idempotent by click id.

import type { Click, ClickFate, ClickId, ClickSpool, ClickStore } from '../domain/click.ts';
import type { Logger } from '../domain/logger.ts';
import type { OrganisationStore } from '../domain/organisation.ts';
import { inBatches, withTimeout } from '../domain/promises.ts';

/** Maximum time that a user waits for the database. */
const DEADLINE_MS = 300;
/** Clicks per statement. */
const BATCH_MAX = 500;
const DRAIN_EVERY_MS = 500;
/** Time limit for moving a batch out of the spool. Long, because no user is waiting. */
const DRAIN_TIMEOUT_MS = 3_000;
const REJECTED =
  'the spool contains rows that are not valid clicks for this database; they were set aside in the spool';
const DROPPED = 'clicks of deleted organisations were dropped from the spool';

const tooSlow = () => new Error('the database is too slow');

interface Arrival {
  readonly click: Click;
  /** Identifies repeated taps; undefined for a visit. */
  readonly key: string | undefined;
  readonly arrivedAtMs: number;
}

interface RecorderOptions {
  readonly store: ClickStore;
  readonly spool: ClickSpool;
  /** Returns what is wrong with a spooled click; undefined if it is valid. */
  readonly problemOf: (click: Click) => string | undefined;
  /** True if the spool file exists. The first process that needs the spool creates it. */
  readonly hasSpool: () => boolean;
  readonly organisations: OrganisationStore;
  readonly logger: Logger;
  readonly deadlineMs?: number | undefined;
}

export type RecorderState = ClickRecorder['state'];

export class ClickRecorder {
  readonly #options: RecorderOptions;
  readonly #commits = inBatches((batch: Arrival[]) => this.#commit(batch), BATCH_MAX);
  /** One statement at a time, so that a flood of requests leaves connections for recording clicks. */
  readonly #lookups = inBatches((ids: ClickId[]) => this.#findStored(ids), BATCH_MAX);
  #isSpooling = false;
  /** True if the spool did not accept the last clicks, for example because the disk is full. */
  #isLosing = false;
  /** False if no click has been spooled since the spool was last seen empty. */
  #mayHoldClicks = false;
  #isSpoolReadable = true;
  #drainTimer: Timer | undefined;
  #draining: Promise<void> | undefined;
  #isStopped = false;
  #spooledCount = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** `spooledCount` counts the clicks that were spooled since the process started. */
  get state() {
    const fate: ClickFate = this.#isLosing ? 'lost' : this.#isSpooling ? 'spooled' : 'recorded';
    return { fate, spooledCount: this.#spooledCount };
  }

  /** Starts draining clicks that an earlier process left in the spool. */
  start(): void {
    if (!this.#options.hasSpool()) return;
    this.#mayHoldClicks = true;
    this.#drainSoon(0);
  }

  /**
   * Resolves with the click's effective id once the click is durable. A repeated tap gets the id of the first tap. A call
   * without a key records a visit: the click is already stored, and the user has followed its link.
   */
  record(click: Click, key?: string): Promise<ClickId> {
    return this.#commits.add({ click, key, arrivedAtMs: performance.now() });
  }

  /** Throws a StorageError if the database does not respond and the click is not in the spool. */
  async find(id: ClickId): Promise<Click | undefined> {
    const { spool, hasSpool, problemOf } = this.#options;
    const findSpooled = async () => {
      const spooled = (await spool.find([id])).get(id);
      return spooled && problemOf(spooled) === undefined ? spooled : undefined;
    };
    try {
      const found = await this.#lookups.add(id);
      // Check the file instead of this worker's state, because other workers write to the same spool.
      if (found !== undefined || !hasSpool()) return found;
    } catch (error) {
      const spooled = hasSpool() ? await findSpooled().catch(() => undefined) : undefined;
      if (spooled === undefined) throw error;
      return spooled;
    }
    // A click that left the spool between the two reads is in the database by now.
    return (await findSpooled()) ?? (await this.#lookups.add(id));
  }

  /** Waits for commits in progress. Clicks that are still in the spool are left for another process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#drainTimer);
    await this.#commits.end();
    await this.#draining;
  }

  async #findStored(ids: readonly ClickId[]): Promise<(Click | undefined)[]> {
    const clicks = await this.#options.store.find([...new Set(ids)]);
    return ids.map((id) => clicks.get(id));
  }

  /** Returns the effective ids. */
  async #commit(batch: readonly Arrival[]): Promise<ClickId[]> {
    if (!this.#isSpooling) {
      const { deadlineMs = DEADLINE_MS } = this.#options;
      const waitedMs = performance.now() - (batch[0]?.arrivedAtMs ?? 0);
      try {
        return await withTimeout(this.#write(batch), Math.max(1, deadlineMs - waitedMs), tooSlow);
      } catch (error) {
        this.#beginSpooling(error);
      }
    }
    await this.#spool(batch.map(({ click }) => click));
    return batch.map(({ click }) => click.id);
  }

  async #write(batch: readonly Arrival[]): Promise<ClickId[]> {
    const { store } = this.#options;
    // PostgreSQL rejects a statement that writes a row twice. Many users can follow a link at once, and repeated taps get here
    // if the clock is set back between them.
    const firsts = new Map<string, Arrival>();
    for (const arrival of batch) firsts.getOrInsert(arrival.key ?? arrival.click.id, arrival);
    const visited = [...firsts.values()].flatMap(({ click, key }) => (key === undefined ? click : []));
    const taps = [...firsts.values()].flatMap(({ click, key }) => (key === undefined ? [] : { click, key }));
    if (visited.length > 0) await store.put(visited);
    const ids = taps.length === 0 ? [] : await store.record(taps);
    const idByKey = new Map(taps.map(({ key }, index) => [key, ids[index]]));
    return batch.map(({ click, key = '' }) => idByKey.get(key) ?? click.id);
  }

  async #spool(clicks: readonly Click[]): Promise<void> {
    try {
      await this.#options.spool.put(clicks);
      this.#spooledCount += clicks.length;
      this.#mayHoldClicks = true;
      this.#isLosing = false;
    } catch (error) {
      this.#isLosing = true;
      throw error;
    } finally {
      this.#drainSoon();
    }
  }

  #beginSpooling(error: unknown): void {
    if (this.#isSpooling) return;
    this.#isSpooling = true;
    this.#options.logger.error(
      { err: error },
      'the database does not accept clicks; writing them to the spool',
    );
  }

  #drainSoon(delayMs = DRAIN_EVERY_MS): void {
    if (this.#isStopped || this.#drainTimer !== undefined) return;
    this.#drainTimer = setTimeout(() => {
      this.#draining = this.#drain().finally(() => {
        this.#drainTimer = undefined;
        if (this.#isSpooling || this.#mayHoldClicks) this.#drainSoon();
      });
    }, delayMs);
  }

  /** Moves spooled clicks into the database, unless the database is still unreachable. */
  async #drain(): Promise<void> {
    const { spool, logger } = this.#options;
    let moved = 0;
    try {
      while (!this.#isStopped) {
        const clicks = await this.#listSpooled();
        const put = await withTimeout(this.#putKnown(clicks), DRAIN_TIMEOUT_MS, tooSlow);
        if (clicks.length === 0) break;
        await spool.remove(clicks);
        moved += put;
        if (put < clicks.length) logger.warn({ clicks: clicks.length - put }, DROPPED);
      }
    } catch (error) {
      logger.debug({ err: error }, 'the spool could not be drained; retrying');
      this.#beginSpooling(error);
      return;
    } finally {
      if (moved > 0) logger.info({ clicks: moved }, 'clicks were moved from the spool to the database');
    }
    if (this.#isSpooling) logger.info('the database accepts clicks again');
    this.#isSpooling = false;
    this.#isLosing = false;
    if (moved > 0)
      await spool
        .emptyLog()
        .catch((err) => logger.warn({ err }, "the spool's log file could not be truncated"));
  }

  /** Returns an empty list if the spool cannot be read. New clicks still go to the database, and the next drain retries. */
  async #listSpooled(): Promise<Click[]> {
    const mayHoldClicks = this.#mayHoldClicks;
    // Reset before reading, because the read can miss clicks that are spooled while it runs.
    this.#mayHoldClicks = false;
    try {
      const oversized = await this.#options.spool.setAsideOversized();
      if (oversized > 0)
        this.#options.logger.warn({ clicks: oversized, reason: 'it is too large' }, REJECTED);
      const clicks = await this.#options.spool.list(BATCH_MAX);
      this.#isSpoolReadable = true;
      if (clicks.length > 0) this.#mayHoldClicks = true;
      return await this.#setInvalidAside(clicks);
    } catch (error) {
      if (mayHoldClicks) this.#mayHoldClicks = true;
      if (this.#isSpoolReadable) this.#options.logger.error({ err: error }, 'the spool cannot be read');
      this.#isSpoolReadable = false;
      return [];
    }
  }

  /** Sets aside invalid rows; returns the valid ones. */
  async #setInvalidAside(clicks: readonly Click[]): Promise<Click[]> {
    const { spool, problemOf, logger } = this.#options;
    const byProblem = Map.groupBy(clicks, problemOf);
    for (const [reason, invalid] of byProblem) {
      if (reason === undefined) continue;
      for (const { id } of invalid) await spool.setAside(id, reason);
      logger.warn({ clicks: invalid.length, reason }, REJECTED);
    }
    return byProblem.get(undefined) ?? [];
  }

  /** Returns the number of stored clicks. Drops those of deleted organisations, which nothing would ever delete. */
  async #putKnown(clicks: readonly Click[]): Promise<number> {
    const { store, organisations } = this.#options;
    // The organisations must be listed after the clicks were read: an organisation that is missing from the list has been
    // deleted.
    const known = new Set(clicks.length === 0 ? [] : (await organisations.list()).map(({ id }) => id));
    const kept = clicks.filter(({ orgId }) => known.has(orgId));
    // Write even if there are no clicks: the write shows whether the database has recovered.
    await store.put(kept);
    return kept.length;
  }
}
