// Replies with transactions. Caches must not store them, but a client can revalidate a copy of its own.

import { chooseCoding, compressInThread } from '../content/content-coding.ts';
import { lengthOf } from '../content/response-body.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';

export const PRIVATE_HEADERS = {
  'Cache-Control': 'private, no-store',
  Vary: 'Authorization, Accept-Encoding',
};

/** Compresses the parts of a JSON body as the client prefers. */
export async function privateReply(
  { request }: Exchange,
  own: Readonly<Record<string, string>>,
  body: readonly Uint8Array<ArrayBuffer>[],
): Promise<Reply> {
  const headers = new Headers({ ...PRIVATE_HEADERS, ...own, 'Content-Type': 'application/json' });
  const coding = chooseCoding(request.headers.get('Accept-Encoding'), lengthOf(body));
  if (coding === undefined) return { status: 200, headers, body };
  headers.set('Content-Encoding', coding);
  return { status: 200, headers, body: [await compressInThread(coding, Buffer.concat(body), 'fast')] };
}
