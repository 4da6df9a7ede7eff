// A response before app.ts adds the common headers and converts it to a Response object; its body becomes the body of the
// Response. Errors are problem documents (RFC 9457).

import { type ApiError, ERRORS } from '../domain/api-errors.ts';
import type { Exchange } from './exchange.ts';

export interface Reply {
  readonly status: number;
  /** app.ts adds headers to this object, even if the reply is cached: a copy would make cached pages 5 % slower. */
  readonly headers: Headers;
  /** Values that `headers` of a cached reply already contains. Setting a header again would make cached pages slower. */
  readonly sent?: ReturnType<typeof noneSent>;
  /** True if shared caches may store the response. It then has no Request-Id, which would reach other clients. */
  readonly isShared?: boolean;
  /** The Cache-Control and Link headers of a cached reply, which can differ between its responses. */
  readonly cacheControl?: string;
  readonly link?: string | undefined;
  /** An array contains the parts of the body. */
  readonly body: Blob | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

/** The headers that earlier responses with a cached reply have set. `hasCommon` is true if those of all its responses are set. */
export function noneSent() {
  return { hasCommon: false, cacheControl: '', link: '' };
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
    body: JSON.stringify(value),
  };
}

/** Redirects a submitted form to a page that can be loaded again. */
export function seeOther(location: string): Reply {
  return {
    status: 303,
    headers: new Headers({ Location: location, 'Cache-Control': 'no-store' }),
    body: null,
  };
}

export function problem(error: ApiError, exchange: Exchange): Reply {
  return {
    status: ERRORS[error.code].status,
    headers: new Headers({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...error.headers,
    }),
    body: JSON.stringify(problemDocument(error, exchange)),
  };
}

export function problemDocument(
  { code, message, errors }: ApiError,
  { origin, path, requestId }: Pick<Exchange, 'origin' | 'path' | 'requestId'>,
) {
  const { status, title } = ERRORS[code];
  return {
    type: `${origin}/errors/${code}`,
    title,
    status,
    detail: message,
    instance: path,
    code,
    requestId,
    ...(errors && { errors }),
  };
}

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
