// A lease: the right of one process at a time to do something, such as sending webhooks or pulling from a network. The holder renews
// its lease every few seconds. Other processes take it over when it has not been renewed for `leaseMs` by their own monotonic
// clock, so the clocks of machines need not agree.

import type { Logger } from './logger.ts';

/** `beat` increases with every renewal. Holders are unique. */
export interface LeaseState {
  readonly holder: string;
  readonly beat: number;
}

export interface LeaseStore {
  find(name: string): Promise<LeaseState | undefined>;
  /** Replaces `old`, or takes the lease if there is none. Returns false if another process was faster. */
  take(name: string, holder: string, old: LeaseState | undefined): Promise<boolean>;
  /** Returns false if the holder has lost the lease. */
  renew(name: string, holder: string): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
}

export interface LeaseTimings {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** How often other processes check the lease. */
  readonly checkEveryMs: number;
}

const TIMINGS: LeaseTimings = { leaseMs: 25_000, renewEveryMs: 5_000, checkEveryMs: 1_000 };

export interface LeaseOptions {
  readonly store: LeaseStore;
  readonly name: string;
  /** Default: a random id. */
  readonly holder?: string;
  /** Returns true if the holder's process has certainly ended. Default: never. */
  readonly isDead?: (holder: string) => boolean;
  readonly logger?: Logger;
  readonly onTaken?: () => void;
  readonly timings?: Partial<LeaseTimings> | undefined;
  readonly monotonicMs?: (() => number) | undefined;
}

export class Lease {
  readonly holder: string;
  readonly #options: LeaseOptions;
  readonly #timings: LeaseTimings;
  readonly #monotonicMs: () => number;
  #timer: Timer | undefined;
  #isStopped = false;
  #takesAgain = false;
  #running: Promise<void> = Promise.resolve();
  /** Monotonic time until which no other process can have the lease; undefined if this process does not have it. */
  #heldUntilMs: number | undefined;
  /** Another process's lease, and when this process first saw its current beat. */
  #seen: { readonly lease: LeaseState; readonly atMs: number } | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.holder = options.holder ?? crypto.randomUUID();
    this.#timings = { ...TIMINGS, ...options.timings };
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  /** Takes the lease as soon as possible and renews it, until stop() is called. If it is lost, takes it again when possible. */
  start(): void {
    this.#takesAgain = true;
    this.#running = this.#tick();
  }

  /**
   * Takes the lease, waiting until it expires if necessary, and starts to renew it. If it is lost, it stays lost. Returns the holder
   * if the lease turns out to be in use.
   */
  async takeUnlessUsed(): Promise<string | undefined> {
    let before: LeaseState | undefined;
    while (true) {
      const other = await this.#check();
      if (other === undefined) break;
      if (before !== undefined && !isSame(before, other)) return other.holder;
      before = other;
      await Bun.sleep(this.#timings.checkEveryMs);
    }
    this.#schedule();
    return undefined;
  }

  get isHeld(): boolean {
    return this.#heldUntilMs !== undefined;
  }

  /** True if no other process can take over within this time, which must be less than `leaseMs`. */
  isSafeFor(ms: number): boolean {
    return this.#monotonicMs() < (this.#heldUntilMs ?? 0) - ms;
  }

  /**
   * If `releases` is true, another process can take the lease at once. Pass false while work is in progress: the other process then
   * waits until the lease expires, and by then the work has ended.
   */
  async stop(releases: boolean): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    const isHeld = this.isHeld;
    this.#heldUntilMs = undefined;
    const { store, name } = this.#options;
    if (isHeld && releases) await store.release(name, this.holder).catch(() => {});
  }

  #schedule(): void {
    if (this.#isStopped || !(this.isHeld || this.#takesAgain)) return;
    const { renewEveryMs, checkEveryMs } = this.#timings;
    this.#timer = setTimeout(
      () => {
        this.#running = this.#tick();
      },
      this.isHeld ? renewEveryMs : checkEveryMs,
    );
  }

  async #tick(): Promise<void> {
    try {
      await (this.isHeld ? this.#renew() : this.#check());
    } catch (error) {
      this.#options.logger?.debug({ err: error }, 'a lease could not be renewed or checked');
    }
    this.#schedule();
  }

  async #renew(): Promise<void> {
    // Read the clock before the query: other processes may see the new beat before this process gets the response.
    const beganMs = this.#monotonicMs();
    const { store, name, logger } = this.#options;
    if (await store.renew(name, this.holder)) {
      this.#heldUntilMs = beganMs + this.#timings.leaseMs;
      return;
    }
    this.#heldUntilMs = undefined;
    logger?.warn({ lease: name }, 'another process has taken over');
  }

  /** Returns undefined if this process has taken the lease. */
  async #check(): Promise<LeaseState | undefined> {
    const { store, name, isDead = () => false, onTaken } = this.#options;
    const beganMs = this.#monotonicMs();
    const lease = await store.find(name);
    if (lease !== undefined && !isDead(lease.holder) && !this.#hasExpired(lease, beganMs)) return lease;
    if (!(await store.take(name, this.holder, lease))) return lease ?? NEVER_SEEN;
    this.#seen = undefined;
    this.#heldUntilMs = beganMs + this.#timings.leaseMs;
    onTaken?.();
    return undefined;
  }

  #hasExpired(lease: LeaseState, nowMs: number): boolean {
    if (this.#seen === undefined || !isSame(this.#seen.lease, lease)) {
      this.#seen = { lease, atMs: nowMs };
      return false;
    }
    return nowMs - this.#seen.atMs >= this.#timings.leaseMs;
  }
}

/** Another process took the lease just before this one. */
const NEVER_SEEN: LeaseState = { holder: 'another process', beat: 0 };

function isSame(one: LeaseState, other: LeaseState): boolean {
  return one.holder === other.holder && one.beat === other.beat;
}
