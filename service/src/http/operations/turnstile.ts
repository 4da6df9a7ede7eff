// A limit on work under way. So much runs at once and the rest waits for a moment; a request that has waited too long
// is turned away before any of the work is done. Under overload, the work that is done is then work that
// somebody still waits for.
//
// Requests that wait take turns (fair-queue.ts), and while several organisations ask, none of them takes more than half of
// what may run. So one that asks for much makes nobody else wait for long.
//
// Work may hold up this whole process, as a page from SQLite does. So it is begun for a few milliseconds in each
// turn of the event loop and no longer: everything else gets its turn between.

import { type ApiError, unavailable } from '../../domain/api-errors.ts';
import { FairQueue } from './fair-queue.ts';

interface TurnstileLimits {
  readonly runningMax: number;
  /** For each caller. All of them together cannot be more than there are connections. */
  readonly waitingMax: number;
  readonly waitMaxMs: number;
}

/** Whose work it is: an organisation and a token. */
export interface Caller {
  readonly orgId: number;
  readonly id: string;
}

const HOLD_UP_MAX_MS = 10;
/** An organisation that has asked within this time is still there. */
const SHARED_MS = 1_000;

export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  #lastAsked: string | undefined;
  /** When another organisation than the one before it has asked. */
  #sharedAtMs = Number.NEGATIVE_INFINITY;
  /** Which turn of the event loop this is, as far as anybody here has to know. */
  #turn = 0;
  #seesTurnEnd = false;
  /** How long work has held up the process in this turn. */
  #heldUpMs = 0;

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
  }

  /** Throws ApiError when there is too much to do. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const org = String(caller.orgId);
    this.#noteAsked(org);
    if (this.#waiting.isEmpty && this.#mayBegin() && this.#mayTake(org)) this.#begin(org);
    else await this.#wait(org, caller.id);
    this.#watchTurn();
    const turn = this.#turn;
    const startedAtMs = performance.now();
    try {
      return await work();
    } finally {
      this.#end(org);
      // Work that has waited for the database ends in another turn than it began in.
      const heldUp = this.#turn === turn;
      if (heldUp) this.#heldUpMs += performance.now() - startedAtMs;
      this.#letIn(heldUp ? 1 : this.#limits.runningMax);
    }
  }

  #mayBegin(): boolean {
    return this.#running < this.#limits.runningMax && this.#heldUpMs < HOLD_UP_MAX_MS;
  }

  #mayTake(org: string): boolean {
    const isShared = performance.now() - this.#sharedAtMs < SHARED_MS;
    return !isShared || (this.#runningOf.get(org) ?? 0) < this.#limits.runningMax / 2;
  }

  #noteAsked(org: string): void {
    if (this.#lastAsked !== undefined && this.#lastAsked !== org) this.#sharedAtMs = performance.now();
    this.#lastAsked = org;
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

  /** Resolves when this one's turn has come, and it counts as running. */
  #wait(org: string, token: string): Promise<void> {
    const path = [org, token];
    if (this.#waiting.count(path) >= this.#limits.waitingMax) throw overloaded();
    const turn = new Promise<void>((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        this.#begin(org);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.remove(enter, path);
        reject(overloaded());
      }, this.#limits.waitMaxMs);
      this.#waiting.add(enter, path);
    });
    // Those before it may be waiting only because their organisation has taken its half.
    this.#letIn(1);
    return turn;
  }

  #letIn(countMax: number): void {
    for (let count = 0; count < countMax && this.#mayBegin(); count++) {
      const enter = this.#waiting.take((org) => this.#mayTake(org));
      if (enter === undefined) return;
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
    });
  }
}

function overloaded(): ApiError {
  return unavailable('There is more to do than can be done. Try again shortly.', 1);
}
