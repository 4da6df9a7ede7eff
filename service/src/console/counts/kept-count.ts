// A count that takes long, kept for a while. Whoever asks gets the last one at once, with its age, while the next is made;
// counting begins when somebody asks, takes at most half of a core, and rests for much longer than it took.

import type { Clock } from '../../domain/clock.ts';

/** A count is good for a minute, or for twenty times as long as it took. */
const GOOD_MIN_MS = 60_000;
const GOOD_FACTOR = 20;
/** How long somebody waits for the first count: most databases are counted by then. */
const WAIT_MAX_MS = 400;

export interface Kept<T> {
  /** Undefined until the first count has ended. */
  readonly last: { readonly value: T; readonly countedAtMs: number; readonly tookMs: number } | undefined;
  /** How far the count has come that is under way; undefined when none is. */
  readonly counted: number | undefined;
}

/** Waits as long as it has worked since it was last called, so that the machine has time for others. */
export type Breather = (count: number) => Promise<void>;

export class KeptCount<T> {
  readonly #count: (breathe: Breather) => Promise<T>;
  readonly #clock: Clock;
  #last: Kept<T>['last'];
  #counted: number | undefined;
  #underWay: Promise<void> | undefined;

  constructor(count: (breathe: Breather) => Promise<T>, clock: Clock) {
    this.#count = count;
    this.#clock = clock;
  }

  /** Throws what the count throws, when there is no earlier one. */
  async read(): Promise<Kept<T>> {
    const last = this.#last;
    const isGood =
      last !== undefined &&
      this.#clock() - last.countedAtMs < Math.max(GOOD_MIN_MS, GOOD_FACTOR * last.tookMs);
    if (!isGood) this.#start();
    if (last === undefined) await Promise.race([this.#underWay, Bun.sleep(WAIT_MAX_MS)]);
    return { last: this.#last, counted: this.#counted };
  }

  #start(): void {
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = undefined;
      this.#counted = undefined;
    });
    // Whoever waits for it hears of it; otherwise the last one stays, with its age.
    this.#underWay.catch(() => {});
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
