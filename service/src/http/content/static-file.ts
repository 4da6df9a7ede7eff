// A file that does not change while the server runs. Strings are compressed, once per coding; bytes are assumed to be
// compressed already.

import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import { type Coding, chooseCoding, compress } from './content-coding.ts';
import { entityTag, matchesTag } from './entity-tag.ts';

export type StaticFile = ReturnType<typeof staticFile>;

export function staticFile(
  content: string | Uint8Array<ArrayBuffer>,
  ownHeaders: Readonly<Record<string, string>>,
) {
  const isText = typeof content === 'string';
  const body = isText ? Buffer.from(content) : content;
  const blobs = new Map<Coding | undefined, Blob>();
  return {
    /** Hash of the contents; the same on every node. */
    version: Bun.hash.xxHash3(body).toString(36),
    answer({ request }: Exchange, cacheControl: string): Reply {
      const accepted = request.headers.get('Accept-Encoding');
      const coding = isText ? chooseCoding(accepted, body.length) : undefined;
      const tag = entityTag(body, coding);
      const headers = new Headers({
        'X-Content-Type-Options': 'nosniff',
        ...ownHeaders,
        'Cache-Control': cacheControl,
        Vary: 'Accept-Encoding',
        ETag: tag,
      });
      const isShared = cacheControl.startsWith('public');
      if (matchesTag(request.headers.get('If-None-Match'), tag))
        return { status: 304, headers, isShared, body: null };
      if (coding !== undefined) headers.set('Content-Encoding', coding);
      const encode = () => new Blob([coding === undefined ? body : compress(coding, body)]);
      return { status: 200, headers, isShared, body: blobs.getOrInsertComputed(coding, encode) };
    },
  };
}
