// Actors that act at the same time, each in a loop, until the time is up. They can be paused between two steps. The first error
// of an actor ends all of them.

export class Actors {
  readonly #endMs: number;
  readonly #isEnough: () => boolean;
  readonly #loops: Promise<void>[] = [];
  #failures: unknown[] = [];
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

  /** Repeats a step, with a pause after each. `finish` runs after the last step. */
  start(step: () => Promise<void>, pauseMs: () => number = () => 0, finish?: () => Promise<void>): void {
    const loop = async () => {
      try {
        while (!this.isOver) {
          if (this.#isPaused) {
            await Bun.sleep(20);
            continue;
          }
          this.#busy += 1;
          await step().finally(() => {
            this.#busy -= 1;
          });
          await Bun.sleep(pauseMs());
        }
      } finally {
        await finish?.();
      }
    };
    this.#loops.push(
      loop().catch((error: unknown) => {
        this.#failures.push(error);
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
  async pause(timeoutMs = 60_000): Promise<void> {
    this.#isPaused = true;
    const giveUpMs = performance.now() + timeoutMs;
    while (this.#busy > 0) {
      if (performance.now() > giveUpMs) throw new Error(`${this.#busy} actors have not ended their steps`);
      await Bun.sleep(20);
    }
    this.#throwFirst();
  }

  resume(): void {
    this.#isPaused = false;
  }

  #throwFirst(): void {
    const [failure] = this.#failures;
    if (failure === undefined) return;
    this.#failures = [];
    throw failure;
  }
}
