// Limits how long a caller waits for a promise. The work itself continues after the timeout, unless `onTimeout` cancels it.

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
