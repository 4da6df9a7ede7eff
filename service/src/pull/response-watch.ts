// Reads one response of a network, which is not trusted: within limits of size, rate and time, and without our credentials.

import { RequestFailed } from './network-failures.ts';

export interface ResponseLimits {
  /** Decompressed bytes of a response. */
  readonly bytes: number;
  /** A response that brings fewer than `idleBytes` in this time has failed, unless it ends. */
  readonly idleMs: number;
  readonly idleBytes: number;
  readonly totalMs: number;
}

export const RESPONSE_LIMITS: ResponseLimits = {
  bytes: 512 * 1024 * 1024,
  idleMs: 60_000,
  idleBytes: 16 * 1024,
  totalMs: 15 * 60_000,
};

/** Bytes that several responses may have together. */
export interface ByteBudget {
  bytesLeft: number;
}

const CREDENTIALS_REPEATED =
  'the response contains our credentials, so nothing of it was stored; report this to the network';

/** Dispose it after use, which also ends the connection if the body has not been read to its end. */
export function watchResponse({ bytes, idleMs, idleBytes, totalMs }: ResponseLimits) {
  const controller = new AbortController();
  /** Why the response took too long. */
  let slowness: string | undefined;
  let idleTimer = startIdleTimer('no response for');
  const totalTimer = setTimeout(
    () => abort(`the response was not complete after ${totalMs / 60_000} min`),
    totalMs,
  );

  function startIdleTimer(reason: string) {
    return setTimeout(() => abort(`${reason} ${idleMs / 1_000} s`), idleMs);
  }

  function abort(reason: string): void {
    slowness ??= reason;
    controller.abort();
  }

  return {
    signal: controller.signal,
    get slowness() {
      return slowness;
    },

    /** Throws RequestFailed if the body is too large, or contains one of the `secrets`, which must not reach the database. */
    async *read(
      body: AsyncIterable<Uint8Array> | null,
      secrets: readonly string[] = [],
      budget: ByteBudget = { bytesLeft: bytes },
    ): AsyncGenerator<Uint8Array> {
      const contains = finder(secrets);
      let [read, readAtReset] = [0, 0];
      for await (const chunk of body ?? []) {
        read += chunk.length;
        budget.bytesLeft -= chunk.length;
        if (budget.bytesLeft < 0)
          throw new RequestFailed('too much', 'the network sends too much data at once');
        if (contains(chunk)) throw new RequestFailed('stop', CREDENTIALS_REPEATED);
        if (read - readAtReset >= idleBytes) {
          readAtReset = read;
          clearTimeout(idleTimer);
          idleTimer = startIdleTimer(`fewer than ${idleBytes} bytes in`);
        }
        yield chunk;
      }
    },

    [Symbol.dispose](): void {
      clearTimeout(idleTimer);
      clearTimeout(totalTimer);
      controller.abort();
    },
  };
}

/** Returns a function that finds texts in a stream of chunks, also across their boundaries. */
function finder(texts: readonly string[]): (chunk: Uint8Array) => boolean {
  const needles = texts.map((text) => Buffer.from(text));
  const tailLength = Math.max(1, ...needles.map(({ length }) => length - 1));
  let tail = Buffer.alloc(0);
  return (chunk) => {
    const bytes = Buffer.concat([tail, chunk]);
    tail = bytes.subarray(-tailLength);
    return needles.some((needle) => bytes.includes(needle));
  };
}
