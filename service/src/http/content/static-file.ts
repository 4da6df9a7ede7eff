// A file that does not change while the server runs. Strings are compressed, once per coding; bytes are assumed to be
// compressed already.

import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import { type Coding, chooseCoding, compress } from './content-coding.ts';
import { entityTag, matchesTag } from './entity-tag.ts';

export class StaticFile {
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isText: boolean;
  readonly #blobs = new Map<Coding | undefined, Blob>();

  constructor(content: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) {
    this.#isText = typeof content === 'string';
    this.#body = typeof content === 'string' ? Buffer.from(content) : content;
    this.#headers = { 'X-Content-Type-Options': 'nosniff', ...headers };
  }

  /** Hash of the contents; the same on every node. */
  get version(): string {
    return Bun.hash.xxHash3(this.#body).toString(36);
  }

  answer({ request }: Exchange, cacheControl: string): Reply {
    const coding = this.#isText
      ? chooseCoding(request.headers.get('Accept-Encoding'), this.#body.length)
      : undefined;
    const tag = entityTag(this.#body, coding);
    const headers = new Headers({
      ...this.#headers,
      'Cache-Control': cacheControl,
      Vary: 'Accept-Encoding',
      ETag: tag,
    });
    const isShared = cacheControl.startsWith('public');
    if (matchesTag(request.headers.get('If-None-Match'), tag))
      return { status: 304, headers, isShared, body: null };
    if (coding !== undefined) headers.set('Content-Encoding', coding);
    return { status: 200, headers, isShared, body: this.#encode(coding) };
  }

  #encode(coding: Coding | undefined): Blob {
    return this.#blobs.getOrInsertComputed(
      coding,
      () => new Blob([coding === undefined ? this.#body : compress(coding, this.#body)]),
    );
  }
}
