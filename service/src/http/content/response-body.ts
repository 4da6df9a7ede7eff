// How a body leaves the process.

import type { Reply } from '../reply.ts';

type Body = Reply['body'];
type Sent = Exclude<Body, readonly Uint8Array[]> | ReadableStream<Uint8Array>;

/** From here on, the runtime no longer copies a late body behind its headers to send both together. */
const LONG_BYTES = 15_000;

/** The body of an answer that is ready at once, or that is not sent at all but for its length. */
export function readyBody(body: Body): Sent {
  return isInParts(body) ? Buffer.concat(body) : body;
}

/**
 * The body of an answer that had to wait for something. Left to itself, the runtime (Bun 1.4) sends the headers of such an
 * answer, when its body is long, name by name and value by value: forty packets, and 130 µs of processor time instead
 * of 22. A direct stream that is filled and ended at once goes out in one piece, headers included, with its length.
 * See oven-sh/bun#41341.
 */
export function lateBody(body: Body): Sent {
  const parts = isInParts(body) ? body : body instanceof Uint8Array ? [body] : [];
  const length = lengthOf(parts);
  if (length < LONG_BYTES) return readyBody(body);
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      pull(controller) {
        for (const part of parts) controller.write(part);
        controller.end();
      },
    },
    // When it holds this much, it would send that without waiting for the end.
    { highWaterMark: length + 1 },
  );
}

export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function isInParts(body: Body): body is readonly Uint8Array<ArrayBuffer>[] {
  return Array.isArray(body);
}
