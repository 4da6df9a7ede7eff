// The right to send webhooks: one node sends at a time. The holder renews the lease every five seconds. Other nodes take it over
// when it has not been renewed for LEASE_MS by their own monotonic clock, so the nodes' clocks need not agree.
//
// A request starts only if it is certain to end before another node can take over: the time since the last renewal plus the
// timeout of an attempt is less than LEASE_MS. A process that was frozen therefore sends nothing when it continues.

import type { Logger } from '../domain/logger.ts';
import type { LeaseStore, SenderLease } from '../domain/webhook.ts';
import { ATTEMPT_MAX_MS } from './post.ts';

export interface LeaseTimings {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** How often other nodes check the lease. */
  readonly checkEveryMs: number;
  /** No request starts in this last part of the lease. */
  readonly reservedMs: number;
}

const TIMINGS: LeaseTimings = {
  leaseMs: 25_000,
  renewEveryMs: 5_000,
  checkEveryMs: 1_000,
  reservedMs: ATTEMPT_MAX_MS + 1_000,
};

interface LeaseOptions {
  readonly store: LeaseStore;
  readonly logger: Logger;
  readonly onTaken: () => void;
  readonly timings?: Partial<LeaseTimings> | undefined;
  readonly monotonicMs?: (() => number) | undefined;
}

export class Lease {
  readonly #holder = crypto.randomUUID();
  readonly #options: LeaseOptions;
  readonly #timings: LeaseTimings;
  readonly #monotonicMs: () => number;
  #timer: Timer | undefined;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();
  /** Monotonic time until which no other node can have the lease; undefined if this node does not have it. */
  #heldUntilMs: number | undefined;
  /** Another node's lease, and when this node first saw its current beat. */
  #seen: { readonly lease: SenderLease; readonly atMs: number } | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#timings = { ...TIMINGS, ...options.timings };
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  start(): void {
    this.#running = this.#tick();
  }

  get isHeld(): boolean {
    return this.#heldUntilMs !== undefined;
  }

  /** True if a request that starts now ends before another node can take over. */
  get mayStart(): boolean {
    return this.#monotonicMs() < (this.#heldUntilMs ?? 0) - this.#timings.reservedMs;
  }

  /**
   * If `releases` is true, another node can take the lease at once. Pass false while a request is in progress: the other node then
   * waits until the lease expires, and by then the request has ended.
   */
  async stop(releases: boolean): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    const isHeld = this.isHeld;
    this.#heldUntilMs = undefined;
    if (isHeld && releases) await this.#options.store.release(this.#holder).catch(() => {});
  }

  async #tick(): Promise<void> {
    try {
      await (this.#heldUntilMs === undefined ? this.#check() : this.#renew());
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'the lease for webhooks could not be renewed or checked');
    }
    if (this.#isStopped) return;
    const { renewEveryMs, checkEveryMs } = this.#timings;
    const delayMs = this.#heldUntilMs === undefined ? checkEveryMs : renewEveryMs;
    this.#timer = setTimeout(() => {
      this.#running = this.#tick();
    }, delayMs);
  }

  async #renew(): Promise<void> {
    // Read the clock before the query: other nodes may see the new beat before this node gets the response.
    const beganMs = this.#monotonicMs();
    if (await this.#options.store.renew(this.#holder)) {
      this.#heldUntilMs = beganMs + this.#timings.leaseMs;
      return;
    }
    this.#heldUntilMs = undefined;
    this.#options.logger.warn('another node sends webhooks now');
  }

  async #check(): Promise<void> {
    const { store, logger, onTaken } = this.#options;
    const beganMs = this.#monotonicMs();
    const lease = await store.find();
    if (lease !== undefined && !this.#hasExpired(lease, beganMs)) return;
    if (!(await store.take(this.#holder, lease))) return;
    this.#seen = undefined;
    this.#heldUntilMs = beganMs + this.#timings.leaseMs;
    logger.info('this node sends webhooks');
    onTaken();
  }

  #hasExpired(lease: SenderLease, nowMs: number): boolean {
    const { lease: last, atMs } = this.#seen ?? {};
    if (
      last === undefined ||
      atMs === undefined ||
      last.holder !== lease.holder ||
      last.beat !== lease.beat
    ) {
      this.#seen = { lease, atMs: nowMs };
      return false;
    }
    return nowMs - atMs >= this.#timings.leaseMs;
  }
}
