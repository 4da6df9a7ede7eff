// Limits how much work runs at once. Further requests wait in a queue. A request that has waited too long is rejected before
// its work starts, so an overloaded service does no work for clients that have already given up.
//
// The queue is round-robin (fair-queue.ts), so a busy organisation does not delay the others for long.
//
// Some work blocks the event loop, such as reading a page from SQLite, so work also waits for the budget of a turn
// (turn-budget.ts).

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

  constructor(limits: Limits, turn = new TurnBudget()) {
    this.#limits = limits;
    this.#turn = turn;
  }

  /** Throws ApiError if the request waits too long. */
  async run<T>({ orgId, id }: Caller, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running += 1;
    else await this.#wait([String(orgId), id]);
    try {
      while (this.#turn.isSpent()) await nextTurn();
      return await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
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
    return promise;
  }
}
