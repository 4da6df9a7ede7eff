// The one way to bound a wait. It does not stop the work, which goes on unobserved: a caller that can stop it does so
// in `onTimeout`.

/** The result of `work`, or the error that `onTimeout` returns when there is none after `timeoutMs`. */
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
