// A lease: the right of one process at a time to do something, such as sending webhooks or pulling from a network. The holder
// renews its lease every few seconds. Other processes take it over when it has not been renewed for `leaseMs` by their own
// monotonic clock, so the clocks of machines need not agree.

import type { Logger } from './logger.ts';

/** `beat` increases with every renewal. Holders are unique. */
export interface LeaseState {
  readonly holder: string;
  readonly beat: number;
}

export interface LeaseStore {
  find(name: string): Promise<LeaseState | undefined>;
  /** Replaces `old`, or acquires the lease if there is none. Returns false if another process acquired it first. */
  acquire(name: string, holder: string, old: LeaseState | undefined): Promise<boolean>;
  /** Returns false if the holder has lost the lease. */
  renew(name: string, holder: string): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
}

/** `checkEveryMs`: how often other processes check the lease. */
const TIMINGS = { leaseMs: 25_000, renewEveryMs: 5_000, checkEveryMs: 1_000 };
export type LeaseTimings = Readonly<typeof TIMINGS>;

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

export function openLease({
  store,
  name,
  holder = crypto.randomUUID(),
  isDead = () => false,
  logger,
  onTaken,
  timings,
  monotonicMs = () => performance.now(),
}: LeaseOptions) {
  const { leaseMs, renewEveryMs, checkEveryMs } = { ...TIMINGS, ...timings };
  let timer: Timer | undefined;
  let isStopped = false;
  let takesAgain = false;
  let running: Promise<void> = Promise.resolve();
  /** Monotonic time until which no other process can have the lease; undefined if this process does not have it. */
  let heldUntilMs: number | undefined;
  /** Another process's lease, and when this process first saw its current beat. */
  let seen: { readonly lease: LeaseState; readonly atMs: number } | undefined;

  function schedule(): void {
    if (isStopped || (heldUntilMs === undefined && !takesAgain)) return;
    const waitMs = heldUntilMs === undefined ? checkEveryMs : renewEveryMs;
    timer = setTimeout(() => {
      running = tick();
    }, waitMs);
  }

  async function tick(): Promise<void> {
    try {
      await (heldUntilMs === undefined ? check() : renew());
    } catch (error) {
      logger?.debug({ err: error }, 'a lease could not be renewed or checked');
    }
    schedule();
  }

  async function renew(): Promise<void> {
    // Read the clock before the query: other processes may see the new beat before this process gets the response.
    const beganMs = monotonicMs();
    if (await store.renew(name, holder)) {
      heldUntilMs = beganMs + leaseMs;
      return;
    }
    heldUntilMs = undefined;
    logger?.warn({ lease: name }, 'another process has taken over');
  }

  /** Returns undefined if this process has taken the lease. */
  async function check(): Promise<LeaseState | undefined> {
    const beganMs = monotonicMs();
    const lease = await store.find(name);
    if (lease !== undefined && !isDead(lease.holder) && !hasExpired(lease, beganMs)) return lease;
    if (!(await store.acquire(name, holder, lease))) return lease ?? NEVER_SEEN;
    seen = undefined;
    heldUntilMs = beganMs + leaseMs;
    onTaken?.();
    return undefined;
  }

  /** `askedAtMs`: time before the query that read the lease. */
  function hasExpired(lease: LeaseState, askedAtMs: number): boolean {
    if (seen === undefined || !isSame(seen.lease, lease)) {
      // Not `askedAtMs`: if the query took long, the beat may be newer than that.
      seen = { lease, atMs: monotonicMs() };
      return false;
    }
    return askedAtMs - seen.atMs >= leaseMs;
  }

  return {
    holder,

    /** Takes the lease as soon as possible and renews it, until stop() is called. If it is lost, takes it again when possible. */
    start(): void {
      takesAgain = true;
      running = tick();
    },

    /**
     * Takes the lease, waiting until it expires if necessary, and starts to renew it. If it is lost, it stays lost. Returns the
     * holder if the lease turns out to be in use.
     */
    async takeUnlessUsed(): Promise<string | undefined> {
      let before: LeaseState | undefined;
      for (let other = await check(); other !== undefined; other = await check()) {
        if (before !== undefined && !isSame(before, other)) return other.holder;
        before = other;
        await Bun.sleep(checkEveryMs);
      }
      schedule();
      return undefined;
    },

    get isHeld(): boolean {
      return heldUntilMs !== undefined;
    },

    /** True if no other process can take over within this time, which must be less than `leaseMs`. */
    isSafeFor: (ms: number): boolean => monotonicMs() < (heldUntilMs ?? 0) - ms,

    /**
     * If `releases` is true, another process can take the lease at once. Pass false while work is in progress: the other process
     * then waits until the lease expires, and by then the work has ended.
     */
    async stop(releases: boolean): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
      const wasHeld = heldUntilMs !== undefined;
      heldUntilMs = undefined;
      if (wasHeld && releases) await store.release(name, holder).catch(() => {});
    },
  };
}

/** Another process took the lease just before this one. */
const NEVER_SEEN: LeaseState = { holder: 'another process', beat: 0 };

function isSame(one: LeaseState, other: LeaseState): boolean {
  return one.holder === other.holder && one.beat === other.beat;
}
