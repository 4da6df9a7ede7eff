// A response before app.ts adds the common headers and converts it to a Response object. Errors are problem documents
// (RFC 9457).

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
