/**
 * Limit for changes that a server notices by polling. Less than 30 s, because every 30 s a node stores the last use of its
 * tokens, which triggers a poll in any case.
 */
export const SOON_MS = 20_000;

/** True if a server responds with a status of success. */
export function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Reads a value until it is accepted (by default, until it is truthy) and returns it. Fails with the last value and the condition
 * after the limit, which is far more than any wait takes even on a busy machine.
 */
export async function until<T>(
  read: () => T | Promise<T>,
  accepts: (value: T) => boolean = Boolean,
  limitMs = 60_000,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  while (true) {
    const value = await read();
    if (accepts(value)) return value;
    if (performance.now() > deadlineMs)
      throw new Error(
        `after ${limitMs / 1_000} s, still ${Bun.inspect(value)}, not ${accepts === Boolean ? read : accepts}`,
      );
    await Bun.sleep(10);
  }
}

/** Waits until a count has grown by `more`. */
export async function untilMore(count: () => number | Promise<number>, more: number): Promise<void> {
  const wanted = (await count()) + more;
  await until(count, (now) => now >= wanted);
}
