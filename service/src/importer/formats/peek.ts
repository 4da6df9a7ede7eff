// Looks at the first bytes of a stream without taking them away.

/** The first bytes, fewer only when there are no more, and a stream that still begins with them. */
export async function peek(
  chunks: AsyncIterable<Uint8Array>,
  byteCount: number,
): Promise<{ head: Uint8Array; all: AsyncGenerator<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let length = 0;
  while (length < byteCount) {
    const next = await rest.next();
    if (next.done) break;
    seen.push(next.value);
    length += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* seen.splice(0);
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  }
  return { head: Buffer.concat(seen).subarray(0, byteCount), all: all() };
}
