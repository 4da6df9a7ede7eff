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
  /**
   * Functions that start the waiting requests, by organisation and token. Organisations take turns, and so do an organisation's
   * tokens: the next one is first. A token's requests stay in order of arrival.
   */
  const waiting = new Map<number, Map<string, Set<() => void>>>();
  let running = 0;

  /** Resolves when the request can start; from then on it counts as running. */
  function wait({ orgId, id }: Caller): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const tokens = waiting.getOrInsertComputed(orgId, () => new Map());
    const starts = tokens.getOrInsertComputed(id, () => new Set());
    const leave = () => {
      starts.delete(start);
      if (starts.size === 0) tokens.delete(id);
      if (tokens.size === 0) waiting.delete(orgId);
    };
    const start = () => {
      leave();
      clearTimeout(timer);
      running += 1;
      resolve();
    };
    const timer = setTimeout(() => {
      leave();
      reject(unavailable('The service is overloaded. Try again shortly.', 1));
    }, waitMaxMs);
    starts.add(start);
    return promise;
  }

  function startNext(): void {
    const tokens = rotate(waiting);
    const starts = tokens && rotate(tokens);
    const [start] = starts ?? [];
    start?.();
  }

  /** Throws ApiError if the request waits too long. */
  return async <T>(caller: Caller, work: () => Promise<T>): Promise<T> => {
    if (running < runningMax) running += 1;
    else await wait(caller);
    try {
      while (turn.isSpent()) await nextTurn();
      return await work();
    } finally {
      running -= 1;
      startNext();
    }
  };
}

/** Moves the first entry to the end, and returns its value. */
function rotate<Key, Value>(map: Map<Key, Value>): Value | undefined {
  for (const [key, value] of map) {
    map.delete(key);
    map.set(key, value);
    return value;
  }
  return undefined;
}
