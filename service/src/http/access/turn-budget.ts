// Limits the requests handled in one turn of the event loop, across all connections. Bun keeps accepting connections while
// more are waiting, and handles their requests in the same turn. Clients that reconnect after every response could keep the
// turn from ending while every other connection waits. Requests beyond the budget are handled in the next turn: their
// clients wait instead of reconnecting, so the turn ends.

/** Turns with fewer requests are short, so they are not measured. */
const WATCHED_FROM = 16;
export const REQUESTS_OF_ALL_MAX = 200;
export const TURN_MAX_MS = 20;

export class TurnBudget {
  #count = 0;
  #startedAtMs = 0;

  /** Counts a request. Returns true if it must wait for the next turn. */
  isSpent(nowMs: number): boolean {
    this.#count += 1;
    if (this.#count < WATCHED_FROM) return false;
    if (this.#count === WATCHED_FROM) {
      this.#startedAtMs = nowMs;
      setImmediate(() => {
        this.#count = 0;
      });
    }
    return this.#count > REQUESTS_OF_ALL_MAX || nowMs - this.#startedAtMs > TURN_MAX_MS;
  }
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
