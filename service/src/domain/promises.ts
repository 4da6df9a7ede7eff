// Runs tasks one at a time, in batches, or with a time limit.

/** A call during a run starts another run afterwards, because the current run may have read the data before it changed. */
export function oneAtATime(work: () => Promise<void>, onFailure: (error: unknown) => void): () => void {
  let isRunning = false;
  let again = false;
  return function run(): void {
    again = isRunning;
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onFailure)
      .finally(() => {
        isRunning = false;
        if (again) run();
      });
  };
}

interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item;
}

/** Processes items in batches, one batch at a time. Items that arrive during a batch share the next one. */
export class Batches<Item, Result> {
  readonly #process: (items: Item[]) => Promise<readonly Result[]>;
  readonly #sizeMax: number;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  /** `process` returns a result for each item, in order. If it throws, every item of the batch fails with the error. */
  constructor(process: (items: Item[]) => Promise<readonly Result[]>, sizeMax = Number.POSITIVE_INFINITY) {
    this.#process = process;
    this.#sizeMax = sizeMax;
  }

  add(item: Item): Promise<Result> {
    const waiting = { item, ...Promise.withResolvers<Result>() };
    this.#waiting.push(waiting);
    this.#running ??= this.#run();
    return waiting.promise;
  }

  /** Waits until all items have been processed. */
  async end(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Let all items that arrive together join the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, this.#sizeMax);
      this.#waiting = this.#waiting.slice(this.#sizeMax);
      try {
        const results = await this.#process(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // There must be no await between the loop's last check and this line, or an item added in between would wait forever.
    this.#running = undefined;
  }
}

/** Returns the result of `work`, or throws the error that `onTimeout` returns after `timeoutMs`. */
export async function withTimeout<T>(
  work: PromiseLike<T>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(onTimeout()), timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
