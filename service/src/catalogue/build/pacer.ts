// Keeps long work from stalling requests: it runs in slices of a few milliseconds and lets the event loop
// turn in between. Everything that builds a snapshot takes its pauses here.

const SLICE_MS = 2;
const ITEMS_BETWEEN_CHECKS = 64;

export class Pacer {
  #sliceEndsAtMs = performance.now() + SLICE_MS;

  get due(): boolean {
    return performance.now() >= this.#sliceEndsAtMs;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceEndsAtMs = performance.now() + SLICE_MS;
  }

  /** Calls back for 0, 1, … count − 1, in order. Each call must be short. */
  async repeat(count: number, step: (index: number) => void): Promise<void> {
    for (let blockBegin = 0; blockBegin < count; blockBegin += ITEMS_BETWEEN_CHECKS) {
      if (this.due) await this.pause();
      const blockEnd = Math.min(blockBegin + ITEMS_BETWEEN_CHECKS, count);
      for (let index = blockBegin; index < blockEnd; index++) step(index);
    }
  }

  /** Calls back for every item, in order. Each call must be short. */
  async forEach<Item>(items: Iterable<Item>, step: (item: Item) => void): Promise<void> {
    let count = 0;
    for (const item of items) {
      if (count++ % ITEMS_BETWEEN_CHECKS === 0 && this.due) await this.pause();
      step(item);
    }
  }
}
