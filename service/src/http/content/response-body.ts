// Converts a reply's body to a Response body.

import type { Reply } from '../reply.ts';

/** From this size, Bun sends the headers and body of asynchronous responses separately. */
const LONG_BYTES = 15_000;

/**
 * Only asynchronous responses have bodies in several parts. If such a body is long, Bun 1.4 sends each header name and value in
 * its own packet. A direct stream that is written and ended at once is sent in one piece, together with the headers and
 * Content-Length. See oven-sh/bun#41341.
 */
export function responseBody(
  body: Reply['body'],
  method: string,
): Blob | string | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null {
  if (body === null || typeof body === 'string' || body instanceof Blob) return body;
  const length = lengthOf(body);
  // HEAD responses contain only the length.
  if (length < LONG_BYTES || method === 'HEAD') return Buffer.concat(body);
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      pull(controller) {
        for (const part of body) controller.write(part);
        controller.end();
      },
    },
    // Above its high-water mark, the stream would flush before it ends.
    { highWaterMark: length + 1 },
  );
}

export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
