// Cross-origin access. Pages from any origin can read the catalogue. Transactions are for servers only: responses have no CORS
// headers, and preflights get 405.

import type { Reply } from '../reply.ts';

const EXPOSED =
  'ETag, Link, Offerbook-Click, RateLimit, RateLimit-Policy, Request-Id, Retry-After, WWW-Authenticate';

export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
};

export function isPreflight(request: Request): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('Origin') &&
    request.headers.has('Access-Control-Request-Method')
  );
}

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** Allows every header that the page requests: libraries add their own, and no credentials are allowed anyway. */
export function preflightReply(request: Request, methods: string): Reply {
  const requested = request.headers.get('Access-Control-Request-Headers') ?? '';
  return {
    status: 204,
    headers: new Headers({
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(requested)
        ? requested
        : 'Authorization, If-None-Match, Request-Id',
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    }),
    body: null,
  };
}
