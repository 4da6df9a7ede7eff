// Limits how much work runs at once. Further requests wait in a queue. A request that has waited too long is rejected before
// its work starts, so an overloaded service does no work for clients that have already given up.
//
// The queue is round-robin, so a busy organisation does not delay the others for long.
//
// Some work blocks the event loop, such as reading a page from SQLite, so work also waits for the budget of a turn
// (turn-budget.ts).

import { unavailable } from '../../domain/api-errors.ts';
import { nextTurn, TurnBudget } from '../access/turn-budget.ts';

interface Limits {
  readonly runningMax: number;
  readonly waitMaxMs: number;
}

/** The organisation and token that a request belongs to. */
interface Caller {
  readonly orgId: number;
  readonly id: string;
}

export type ConcurrencyLimit = ReturnType<typeof concurrencyLimit>;

export function concurrencyLimit({ runningMax, waitMaxMs }: Limits, turn = new TurnBudget()) {
  const waiting = new FairQueue<() => void>();
  let running = 0;

  /** Resolves when the request can start; from then on it counts as running. */
  function wait(path: readonly [org: string, token: string]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      clearTimeout(timer);
      running += 1;
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.remove(start, path);
      reject(unavailable('The service is overloaded. Try again shortly.', 1));
    }, waitMaxMs);
    waiting.add(start, path);
    return promise;
  }

  /** Throws ApiError if the request waits too long. */
  return async <T>({ orgId, id }: Caller, work: () => Promise<T>): Promise<T> => {
    if (running < runningMax) running += 1;
    else await wait([String(orgId), id]);
    try {
      while (turn.isSpent()) await nextTurn();
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

/**
 * A round-robin queue: organisations take turns, and so do an organisation's tokens. A token's requests stay in order of arrival.
 */
class FairQueue<Item> {
  readonly #items = new Set<Item>();
  /** In round-robin order, next branch first. */
  readonly #branches = new Map<string, FairQueue<Item>>();

  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#branches.size === 0;
  }

  /** The path identifies the item's owner: an organisation, then one of its tokens. */
  add(item: Item, [key, ...rest]: readonly string[]): void {
    if (key === undefined) {
      this.#items.add(item);
      return;
    }
    this.#branches.getOrInsertComputed(key, () => new FairQueue()).add(item, rest);
  }

  remove(item: Item, [key, ...rest]: readonly string[]): void {
    if (key === undefined) {
      this.#items.delete(item);
      return;
    }
    const branch = this.#branches.get(key);
    branch?.remove(item, rest);
    if (branch?.isEmpty) this.#branches.delete(key);
  }

  /** Removes and returns the next item, and moves its branch to the end. */
  shift(): Item | undefined {
    for (const item of this.#items) {
      this.#items.delete(item);
      return item;
    }
    for (const [key, branch] of this.#branches) {
      this.#branches.delete(key);
      const item = branch.shift();
      if (!branch.isEmpty) this.#branches.set(key, branch);
      return item;
    }
    return undefined;
  }
}
