// Looks at the beginning of a stream without taking it away.

/** Enough for the byte order mark, some blank lines, and the first words of whatever follows. */
const HEAD_BYTES = 4096;

/** How a text begins, without blanks, and all of its bytes; neither has the byte order mark. */
export async function peekText(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ text: string; all: AsyncGenerator<Uint8Array> }> {
  const { head, all } = await peek(withoutByteOrderMark(chunks), HEAD_BYTES);
  // A cut-off character at the end of the head is replaced, which does no harm: only ASCII is looked for.
  return { text: new TextDecoder().decode(head).trimStart(), all };
}

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
