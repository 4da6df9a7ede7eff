// Actors that act at the same time, each in a loop, until the time is up. They can be paused between two steps. The first error
// of an actor ends all of them.

import { until } from '../../support/until.ts';

export class Actors {
  readonly #endMs: number;
  readonly #isEnough: () => boolean;
  readonly #loops: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;
  #busy = 0;
  #isPaused = false;
  #isEnded = false;

  /** `endMs` is a value of performance.now(). On a busy machine, the actors continue until `isEnough` is true. */
  constructor(endMs = Number.POSITIVE_INFINITY, isEnough = () => true) {
    this.#endMs = endMs;
    this.#isEnough = isEnough;
  }

  get isOver(): boolean {
    return this.#isEnded || (performance.now() > this.#endMs && this.#isEnough());
  }

  /** Repeats a step, with a pause after each. */
  start(step: () => Promise<void>, pauseMs: () => number = () => 0): void {
    const loop = async () => {
      while (!this.isOver) {
        if (!this.#isPaused) {
          this.#busy += 1;
          await step().finally(() => {
            this.#busy -= 1;
          });
        }
        await Bun.sleep(this.#isPaused ? 20 : pauseMs());
      }
    };
    this.#loops.push(
      loop().catch((error: unknown) => {
        this.#failure ??= { error };
        this.#isEnded = true;
      }),
    );
  }

  /** Waits until every actor has ended its last step; throws the first error. */
  async untilOver(): Promise<void> {
    await Promise.all(this.#loops);
    this.#throwFirst();
  }

  /** Lets the actors end after their current steps. */
  end(): void {
    this.#isEnded = true;
  }

  /** Returns when every actor has ended its current step. No actor begins another before `resume`. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await until(
      () => this.#busy,
      (actors) => actors === 0,
    );
    this.#throwFirst();
  }

  resume(): void {
    this.#isPaused = false;
  }

  #throwFirst(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
