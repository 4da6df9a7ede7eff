const LIMIT_MS = 60_000;

/**
 * Reads a value until it is accepted (by default, until it is truthy) and returns it. Fails with the last value after a
 * minute, which is far more than any wait takes even on a busy machine.
 */
export async function until<T>(
  read: () => T | Promise<T>,
  accepts: (value: T) => boolean = Boolean,
): Promise<T> {
  const deadlineMs = performance.now() + LIMIT_MS;
  while (true) {
    const value = await read();
    if (accepts(value)) return value;
    if (performance.now() > deadlineMs)
      throw new Error(`after ${LIMIT_MS / 1_000} s, still ${Bun.inspect(value)}, not ${accepts}`);
    await Bun.sleep(10);
  }
}
