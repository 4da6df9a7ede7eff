// A limit on work under way. So much runs at once and the rest waits for a moment; whoever has waited too long
// is turned away before any of the work is done. Under overload, the work that is done is then work that
// somebody still waits for.
//
// Work may hold up this whole process, as a page from SQLite does. So it is begun for a few milliseconds in each
// turn of the event loop and no longer: everything else gets its turn between.

import { ApiError } from '../../domain/api-errors.ts';

export interface TurnstileLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitMaxMs: number;
}

const HOLD_UP_MAX_MS = 10;

export class Turnstile {
  readonly #limits: TurnstileLimits;
  /** In the order of their arrival. */
  readonly #waiting = new Set<() => void>();
  #running = 0;
  /** Which turn of the event loop this is, as far as anybody here has to know. */
  #turn = 0;
  #seesTurnEnd = false;
  /** How long work has held up the process in this turn. */
  #heldUpMs = 0;

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
  }

  /** Throws ApiError when there is too much to do. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.size > 0 || !this.#mayBegin()) await this.#wait();
    else this.#running += 1;
    this.#watchTurn();
    const turn = this.#turn;
    const startedAtMs = performance.now();
    try {
      return await work();
    } finally {
      this.#running -= 1;
      // Work that has waited for the database ends in another turn than it began in.
      const heldUp = this.#turn === turn;
      if (heldUp) this.#heldUpMs += performance.now() - startedAtMs;
      this.#letIn(heldUp ? 1 : this.#limits.runningMax);
    }
  }

  #mayBegin(): boolean {
    return this.#running < this.#limits.runningMax && this.#heldUpMs < HOLD_UP_MAX_MS;
  }

  /** Resolves when this one's turn has come, and it counts as running. */
  #wait(): Promise<void> {
    if (this.#waiting.size >= this.#limits.waitingMax) throw overloaded();
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        reject(overloaded());
      }, this.#limits.waitMaxMs);
      this.#waiting.add(enter);
    });
  }

  #letIn(countMax: number): void {
    let count = 0;
    for (const enter of this.#waiting) {
      if (count === countMax || !this.#mayBegin()) return;
      this.#waiting.delete(enter);
      this.#running += 1;
      count += 1;
      enter();
    }
  }

  #watchTurn(): void {
    if (this.#seesTurnEnd) return;
    this.#seesTurnEnd = true;
    setImmediate(() => {
      this.#seesTurnEnd = false;
      this.#turn += 1;
      this.#heldUpMs = 0;
      // One at a time: only when it is done can be told whether it has held up the process.
      this.#letIn(1);
      if (this.#waiting.size > 0 && this.#running < this.#limits.runningMax) this.#watchTurn();
    });
  }
}

function overloaded(): ApiError {
  return new ApiError('unavailable', 'There is more to do than can be done. Try again shortly.', {
    headers: { 'Retry-After': '1' },
  });
}
