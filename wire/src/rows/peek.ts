// Reads the beginning of a stream without consuming it.

/** Enough for a byte order mark, some blank lines, and the first tokens or a header. */
const HEAD_BYTES = 4096;

/**
 * Returns the start of the text without leading white space, together with the complete byte stream. A byte order mark is
 * removed from both.
 */
export async function peekText(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ text: string; all: AsyncGenerator<Uint8Array> }> {
  const { head, all } = await peek(withoutByteOrderMark(chunks), HEAD_BYTES);
  // The last character may be incomplete and decode to U+FFFD, but callers look only for ASCII.
  return { text: new TextDecoder().decode(head).trimStart(), all };
}

/** Returns the first bytes (fewer if the stream is shorter) and a stream that still begins with them. */
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

async function* withoutByteOrderMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, all } = await peek(chunks, 3);
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  let skip = hasMark ? 3 : 0;
  for await (const chunk of all) {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    yield chunk.subarray(skipped);
  }
}
