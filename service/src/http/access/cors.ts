// Cross-origin access. Pages of any origin may read the catalogue. Transactions are for servers only: they have no CORS headers,
// and their preflights get 405.

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
 * Allows the methods, and every header that the page requests, because libraries add headers of their own. A list of headers
 * would protect nothing: every origin is allowed, and credentials are not.
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
