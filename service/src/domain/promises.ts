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

/**
 * Processes items in batches, one batch at a time. Items that arrive during a batch share the next one. `process` returns a result
 * for each item, in order. If it throws, every item of the batch fails with the error.
 */
export function inBatches<Item, Result>(
  process: (items: Item[]) => Promise<readonly Result[]>,
  sizeMax = Number.POSITIVE_INFINITY,
) {
  let waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // Let all items that arrive together join the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, sizeMax);
      waiting = waiting.slice(sizeMax);
      try {
        const results = await process(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // There must be no await between the loop's last check and this line, or an item added in between would wait forever.
    running = undefined;
  }

  return {
    add(item: Item): Promise<Result> {
      const added = { item, ...Promise.withResolvers<Result>() };
      waiting.push(added);
      running ??= run();
      return added.promise;
    },
    /** Waits until all items have been processed. */
    end: async () => running,
  };
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
