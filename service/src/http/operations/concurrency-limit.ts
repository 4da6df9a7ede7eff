// Limits how much work runs at once. Further requests wait in a queue. A request that has waited too long is rejected before
// its work starts, so an overloaded service does no work for clients that have already given up.
//
// The queue is round-robin (fair-queue.ts), so a busy organisation does not delay the others for long.
//
// Some work blocks the event loop, such as reading a page from SQLite, so the queue uses the budget of the turn (turn-budget.ts).

import { unavailable } from '../../domain/api-errors.ts';
import { nextTurn, TurnBudget } from '../access/turn-budget.ts';
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

export class ConcurrencyLimit {
  readonly #limits: Limits;
  readonly #turn: TurnBudget;
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;
  /** True if starting the next request was postponed to the next turn. */
  #isPostponed = false;

  constructor(limits: Limits, turn = new TurnBudget()) {
    this.#limits = limits;
    this.#turn = turn;
  }

  /** Throws ApiError if the request waits too long. */
  async run<T>({ orgId, id }: Caller, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.isEmpty && this.#mayStart()) this.#running += 1;
    else await this.#wait([String(orgId), id]);
    try {
      const working = work();
      // Only now, because the work may have blocked the event loop.
      this.#startNext();
      return await working;
    } finally {
      this.#running -= 1;
      this.#startNext();
    }
  }

  /** Resolves when the request can start; from then on it counts as running. */
  #wait(path: readonly [org: string, token: string]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      clearTimeout(timer);
      this.#running += 1;
      resolve();
    };
    const timer = setTimeout(() => {
      this.#waiting.remove(start, path);
      reject(unavailable('The service is overloaded. Try again shortly.', 1));
    }, this.#limits.waitMaxMs);
    this.#waiting.add(start, path);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    if (!this.#waiting.isEmpty && this.#mayStart()) this.#waiting.shift()?.();
  }

  /** If the budget of this turn is spent, the next request starts in the next turn. */
  #mayStart(): boolean {
    if (this.#isPostponed || this.#running === this.#limits.runningMax) return false;
    if (!this.#turn.isSpent()) return true;
    this.#isPostponed = true;
    void nextTurn().then(() => {
      this.#isPostponed = false;
      this.#startNext();
    });
    return false;
  }
}
