// Limits the work that begins in one turn of the event loop, across all connections. Bun keeps accepting connections and reading
// requests while more are waiting, and handles all of them in the same turn. Clients that pipeline requests, or reconnect after
// every response, could keep the turn from ending while every other connection waits. Work beyond the budget begins in the next
// turn. While a request waits, Bun closes its connection if another request arrives on it, so floods of pipelined requests end.

export const REQUESTS_OF_ALL_MAX = 200;
export const TURN_MAX_MS = 20;

export class TurnBudget {
  /** Requests counted in this turn. */
  #count = 0;
  #startedAtMs = 0;

  /** Counts a request. Returns true if it must wait for the next turn. */
  isSpent(nowMs = performance.now()): boolean {
    if (this.#count === 0) {
      this.#startedAtMs = nowMs;
      setImmediate(() => {
        this.#count = 0;
      });
    }
    this.#count += 1;
    return this.#count > REQUESTS_OF_ALL_MAX || nowMs - this.#startedAtMs > TURN_MAX_MS;
  }
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
