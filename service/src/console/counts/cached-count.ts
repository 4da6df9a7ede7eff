// Caches a slow count. read() returns the last result at once, with its age, and starts a new count if the result is old. A
// count uses at most half a core.

import type { Clock } from '../../domain/clock.ts';

/** A result stays fresh for a minute, or for twenty times as long as the count took. */
const FRESH_MIN_MS = 60_000;
const FRESH_FACTOR = 20;
/** Time to wait for the first count, enough for most databases. */
const WAIT_MAX_MS = 400;

export interface CachedResult<T> {
  /** Undefined until the first count has ended. */
  readonly last: { readonly value: T; readonly countedAtMs: number; readonly tookMs: number } | undefined;
  /** Progress of the running count; undefined if none is running. */
  readonly counted: number | undefined;
}

/** Reports progress, and sleeps for as long as the count has worked since the last call. */
export type Pause = (count: number) => Promise<void>;

export class CachedCount<T> {
  readonly #count: (pause: Pause) => Promise<T>;
  readonly #clock: Clock;
  #last: CachedResult<T>['last'];
  #counted: number | undefined;
  #running: Promise<void> | undefined;

  constructor(count: (pause: Pause) => Promise<T>, clock: Clock) {
    this.#count = count;
    this.#clock = clock;
  }

  /** Throws the count's error if there is no earlier result. */
  async read(): Promise<CachedResult<T>> {
    const last = this.#last;
    const isFresh =
      last !== undefined &&
      this.#clock() - last.countedAtMs < Math.max(FRESH_MIN_MS, FRESH_FACTOR * last.tookMs);
    if (!isFresh) this.#start();
    if (last === undefined) await Promise.race([this.#running, Bun.sleep(WAIT_MAX_MS)]);
    return { last: this.#last, counted: this.#counted };
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.#counted = undefined;
    });
    // A waiting read() throws the error; otherwise the last result stays.
    this.#running.catch(() => {});
  }

  async #run(): Promise<void> {
    const countedAtMs = this.#clock();
    const beganAtMs = performance.now();
    let workedFromMs = beganAtMs;
    this.#counted = 0;
    const value = await this.#count(async (count) => {
      this.#counted = count;
      await Bun.sleep(performance.now() - workedFromMs);
      workedFromMs = performance.now();
    });
    this.#last = { value, countedAtMs, tookMs: performance.now() - beganAtMs };
  }
}
