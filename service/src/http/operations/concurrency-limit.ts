// Limits how much work runs at once. Further requests wait in a queue. A request that has waited too long is rejected before
// its work starts, so an overloaded service does no work for clients that have already given up.
//
// The queue is round-robin (fair-queue.ts). While several organisations send requests, each can use at most half of the limit,
// so a busy organisation does not delay the others for long.
//
// Some work blocks the event loop, such as reading a page from SQLite. Work therefore starts only during the first
// milliseconds of each turn of the event loop, which leaves time for everything else.

import { unavailable } from '../../domain/api-errors.ts';
import { FairQueue } from './fair-queue.ts';

interface Limits {
  readonly runningMax: number;
  readonly waitMaxMs: number;
}

/** The organisation and token that a request belongs to. */
interface Caller {
  readonly orgId: number;
  readonly id: string;
}

const BLOCKED_MAX_MS = 10;
/** How long the limit is shared after two consecutive requests came from different organisations. */
const SHARED_MS = 1_000;

export class ConcurrencyLimit {
  readonly #limits: Limits;
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  #lastOrg: string | undefined;
  /** When two consecutive requests last came from different organisations. */
  #sharedAtMs = Number.NEGATIVE_INFINITY;
  /** Counts the turns of the event loop in which work ran. */
  #turn = 0;
  #seesTurnEnd = false;
  /** How long work has blocked the event loop in this turn. */
  #blockedMs = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Throws ApiError if the request waits too long. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const org = String(caller.orgId);
    this.#noteRequest(org);
    if (this.#waiting.isEmpty && this.#mayStart() && this.#mayStartFor(org)) this.#begin(org);
    else await this.#wait(org, caller.id);
    this.#watchTurn();
    const turn = this.#turn;
    const startedAtMs = performance.now();
    try {
      return await work();
    } finally {
      this.#end(org);
      // Work that ends in a later turn has waited for the database, without blocking the event loop.
      const hasBlocked = this.#turn === turn;
      if (hasBlocked) this.#blockedMs += performance.now() - startedAtMs;
      this.#startNext(hasBlocked ? 1 : this.#limits.runningMax);
    }
  }

  #mayStart(): boolean {
    return this.#running < this.#limits.runningMax && this.#blockedMs < BLOCKED_MAX_MS;
  }

  #mayStartFor(org: string): boolean {
    const isShared = performance.now() - this.#sharedAtMs < SHARED_MS;
    return !isShared || (this.#runningOf.get(org) ?? 0) < this.#limits.runningMax / 2;
  }

  #noteRequest(org: string): void {
    if (this.#lastOrg !== undefined && this.#lastOrg !== org) this.#sharedAtMs = performance.now();
    this.#lastOrg = org;
  }

  #begin(org: string): void {
    this.#running += 1;
    this.#runningOf.set(org, (this.#runningOf.get(org) ?? 0) + 1);
  }

  #end(org: string): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(org) ?? 0) - 1;
    if (left > 0) this.#runningOf.set(org, left);
    else this.#runningOf.delete(org);
  }

  /** Resolves when the request can start; from then on it counts as running. */
  #wait(org: string, token: string): Promise<void> {
    const path = [org, token];
    const started = new Promise<void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        this.#begin(org);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.remove(start, path);
        reject(unavailable('The service is overloaded. Try again shortly.', 1));
      }, this.#limits.waitMaxMs);
      this.#waiting.add(start, path);
    });
    // This request may be able to start now: the requests ahead may be waiting only because their organisation already uses
    // half of the limit.
    this.#startNext(1);
    return started;
  }

  #startNext(countMax: number): void {
    for (let count = 0; count < countMax && this.#mayStart(); count++) {
      const start = this.#waiting.take((org) => this.#mayStartFor(org));
      if (start === undefined) return;
      start();
    }
  }

  #watchTurn(): void {
    if (this.#seesTurnEnd) return;
    this.#seesTurnEnd = true;
    setImmediate(() => {
      this.#seesTurnEnd = false;
      this.#turn += 1;
      this.#blockedMs = 0;
      // Start one request at a time: whether its work blocks the event loop is known only when the work ends.
      this.#startNext(1);
    });
  }
}
