// Limits the requests that all connections together have answered in one turn of the event loop. Bun accepts connections for as
// long as further ones are waiting, and answers their requests meanwhile. Clients that reconnect after every response would
// keep the turn from ending, and every other connection would wait. A request beyond the budget is answered in the next
// turn: its client waits instead of reconnecting, so this turn ends.

/** Turns with fewer requests are short, and not measured. */
const WATCHED_FROM = 16;
export const REQUESTS_OF_ALL_MAX = 200;
export const TURN_MAX_MS = 20;

export class TurnBudget {
  #count = 0;
  #startedAtMs = 0;

  /** Counts a request. Returns true if it has to wait for the next turn. */
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
