// Cross-origin access: the catalogue is open to pages from anywhere. Transactions are for servers only: they get no
// CORS header, and their preflight is refused like any other method.

import type { Reply } from '../reply.ts';

const EXPOSED = 'ETag, Link, RateLimit, RateLimit-Policy, Request-Id, Retry-After, WWW-Authenticate';

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

/**
 * Tells a page which methods it may use, and allows every header that it asks for: libraries add some of their own.
 * Where every origin is allowed and credentials are not, a list of names would protect nothing.
 */
export function preflightReply(request: Request, methods: string): Reply {
  const asked = request.headers.get('Access-Control-Request-Headers') ?? '';
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(asked)
        ? asked
        : 'Authorization, If-None-Match, Request-Id',
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
    body: null,
  };
}
