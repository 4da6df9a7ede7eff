// Records clicks. Those that arrive while a commit is under way share the next one, and each is answered when it is safe.
// When the database does not take clicks in time, they go to the spool, a file beside this process, and from there into
// the database when it is back: a user who clicks must arrive, and the click must not be lost. Every write may be repeated:
// the id of a click is its identity.

import type { Click, ClickId, ClickSpool, ClickStore, Tap } from '../domain/click.ts';
import type { Logger } from '../domain/logger.ts';
import type { OrganisationStore } from '../domain/stores.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import { ClickLookup } from './click-lookup.ts';

/** A user does not wait longer than this for the database. */
const DEADLINE_MS = 300;
/** How many clicks share a commit at most. */
const BATCH_MAX = 500;
const DRAIN_EVERY_MS = 500;
/** How long moving a batch out of the spool may take; nobody waits for it. */
const DRAIN_TIMEOUT_MS = 3_000;
const REJECTED = 'rows of the spool are not clicks of this database; they were set aside in it';
const DROPPED = 'clicks of organisations that are no longer there were dropped from the spool';

interface Waiting {
  readonly key: string | undefined;
  readonly click: Click;
  readonly arrivedAtMs: number;
  readonly resolve: (id: ClickId) => void;
  readonly reject: (error: unknown) => void;
}

interface RecorderOptions {
  readonly store: ClickStore;
  readonly spool: ClickSpool;
  /** What is wrong with a click of the spool, which others may have forged. */
  readonly problemOf: (click: Click) => string | undefined;
  /** Whether the spool is there: its file is made by the first who needs it, this process or another. */
  readonly hasSpool: () => boolean;
  /** Those that the database has now, not those that were there when this node last looked. */
  readonly organisations: Pick<OrganisationStore, 'list'>;
  readonly logger: Logger;
  readonly deadlineMs?: number | undefined;
}

export interface RecorderState {
  /** Whether clicks go to the spool now. */
  readonly isSpooling: boolean;
  /** How many have gone there since the start. */
  readonly spooledCount: number;
}

export class ClickRecorder {
  readonly #options: RecorderOptions;
  readonly #lookup: ClickLookup;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #isSpooling = false;
  /** Whether clicks may be in the spool: something was put there since it was last found empty. */
  #mayHoldClicks = false;
  #isSpoolReadable = true;
  #drainTimer: Timer | undefined;
  #draining: Promise<void> | undefined;
  #isStopped = false;
  #spooledCount = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#lookup = new ClickLookup(options.store);
  }

  get state(): RecorderState {
    return { isSpooling: this.#isSpooling, spooledCount: this.#spooledCount };
  }

  /** Takes up what an earlier process has left in the spool. */
  start(): void {
    if (!this.#options.hasSpool()) return;
    this.#mayHoldClicks = true;
    this.#drainSoon(0);
  }

  /**
   * Resolves, when the click is safe, with the id that counts: that of the first of two taps. Without a key it is a visit:
   * the click is there already, and was followed.
   */
  record(click: Click, key?: string): Promise<ClickId> {
    const { promise, resolve, reject } = Promise.withResolvers<ClickId>();
    this.#waiting.push({ click, key, arrivedAtMs: performance.now(), resolve, reject });
    this.#committing ??= this.#commitAll();
    return promise;
  }

  /** Throws a StorageError when it is not in the spool and the database does not answer. */
  async find(id: ClickId): Promise<Click | undefined> {
    const { spool, hasSpool, problemOf } = this.#options;
    const findSpooled = async () => {
      const spooled = (await spool.find([id])).get(id);
      return spooled && problemOf(spooled) === undefined ? spooled : undefined;
    };
    try {
      const found = await this.#lookup.find(id);
      // Whatever this worker has spooled itself: those beside it have the same spool.
      if (found !== undefined || !hasSpool()) return found;
    } catch (error) {
      const spooled = hasSpool() ? await findSpooled().catch(() => undefined) : undefined;
      if (spooled === undefined) throw error;
      return spooled;
    }
    // What leaves the spool between the two looks is in the database by then.
    return (await findSpooled()) ?? (await this.#lookup.find(id));
  }

  /** Waits for what is under way. What is in the spool is for the next process, or for another one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#drainTimer);
    await this.#committing;
    await this.#draining;
  }

  async #commitAll(): Promise<void> {
    // Requests that have arrived together are all seen before the first commit begins.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, BATCH_MAX);
        this.#waiting = this.#waiting.slice(BATCH_MAX);
        await this.#commit(batch);
      }
    } finally {
      // Together with the last look: a click that came between the two would wait for the next one.
      this.#committing = undefined;
    }
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    if (!this.#isSpooling) {
      try {
        const ids = await withTimeout(
          this.#write(batch),
          this.#leftMs(batch),
          () => new Error('the database is too slow'),
        );
        for (const [index, { click, resolve }] of batch.entries()) resolve(ids[index] ?? click.id);
        return;
      } catch (error) {
        this.#beginSpooling(error);
      }
    }
    await this.#spool(batch);
  }

  #leftMs(batch: readonly Waiting[]): number {
    const { deadlineMs = DEADLINE_MS } = this.#options;
    const first = batch[0]?.arrivedAtMs ?? 0;
    return Math.max(1, deadlineMs - (performance.now() - first));
  }

  async #write(batch: readonly Waiting[]): Promise<ClickId[]> {
    const { store } = this.#options;
    /** By id: many may follow a link at once, and PostgreSQL rejects a statement that writes a row twice. */
    const visited = new Map<ClickId, Click>();
    /** By key: a clock that was set back may have let a second tap through. */
    const taps = new Map<string, Tap>();
    for (const { click, key } of batch) {
      if (key !== undefined) {
        if (!taps.has(key)) taps.set(key, { click, key });
      } else if (!visited.has(click.id)) visited.set(click.id, click);
    }
    if (visited.size > 0) await store.put([...visited.values()]);
    const ids = taps.size === 0 ? [] : await store.record([...taps.values()]);
    const counting = new Map([...taps.keys()].map((key, index) => [key, ids[index]]));
    return batch.map(({ click, key }) => (key === undefined ? undefined : counting.get(key)) ?? click.id);
  }

  async #spool(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#options.spool.put(batch.map(({ click }) => click));
      this.#spooledCount += batch.length;
      this.#mayHoldClicks = true;
      for (const { click, resolve } of batch) resolve(click.id);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#drainSoon();
  }

  #beginSpooling(error: unknown): void {
    if (this.#isSpooling) return;
    this.#isSpooling = true;
    this.#options.logger.error({ err: error }, 'the database takes no clicks; they go to the spool');
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

  /** Moves the spool into the database, or finds that it is still away. */
  async #drain(): Promise<void> {
    const { spool, logger } = this.#options;
    let moved = 0;
    try {
      while (!this.#isStopped) {
        const clicks = await this.#listSpooled();
        const put = await withTimeout(
          this.#putKnown(clicks),
          DRAIN_TIMEOUT_MS,
          () => new Error('the database is too slow'),
        );
        if (clicks.length === 0) break;
        await spool.remove(clicks);
        moved += put;
        if (put < clicks.length) logger.warn({ clicks: clicks.length - put }, DROPPED);
      }
    } catch (error) {
      logger.debug({ err: error }, 'the spool could not be emptied yet');
      this.#beginSpooling(error);
      return;
    } finally {
      if (moved > 0) logger.info({ clicks: moved }, 'clicks were moved from the spool into the database');
    }
    if (this.#isSpooling) logger.info('the database takes clicks again');
    this.#isSpooling = false;
    if (moved > 0) await spool.emptyLog().catch((err) => logger.warn({ err }, 'the spool keeps its log'));
  }

  /** None when the spool cannot be read: then it is looked at again, and clicks go to the database meanwhile. */
  async #listSpooled(): Promise<Click[]> {
    const mayHoldClicks = this.#mayHoldClicks;
    // Before it is read: what is put there meanwhile may not be seen.
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

  /** Moves rows that are not clicks of ours out of the way, one by one; returns the others. */
  async #setInvalidAside(clicks: readonly Click[]): Promise<Click[]> {
    const { spool, problemOf, logger } = this.#options;
    const valid: Click[] = [];
    const reasons = new Map<string, number>();
    for (const click of clicks) {
      const reason = problemOf(click);
      if (reason === undefined) valid.push(click);
      else {
        await spool.setAside(click.id, reason);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    for (const [reason, count] of reasons) logger.warn({ clicks: count, reason }, REJECTED);
    return valid;
  }

  /** Those whose organisation is there: of a deleted one, they would stay for good. Returns how many. */
  async #putKnown(clicks: readonly Click[]): Promise<number> {
    const { store, organisations } = this.#options;
    // Asked after the clicks were read: none of them is of an organisation that was made since.
    const known = new Set(clicks.length === 0 ? [] : (await organisations.list()).map(({ id }) => id));
    const kept = clicks.filter(({ orgId }) => known.has(orgId));
    // Even if there are none, or they cannot be read: an empty write tells whether the database is back.
    await store.put(kept);
    return kept.length;
  }
}
