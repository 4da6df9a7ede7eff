// Cross-origin access: the catalogue is open to pages from anywhere; transactions are for servers only, so
// they get no CORS header at all and their preflight is refused like any other method.

import type { Reply } from '../reply.ts';

const EXPOSED = 'ETag, Link, RateLimit, RateLimit-Policy, Request-Id, Retry-After, WWW-Authenticate';

export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
};

/**
 * The page that a request comes from, for the log: undefined when there is none, and when it is none, because a caller could
 * write a token there.
 */
export function pageOrigin(request: Request): string | undefined {
  const origin = request.headers.get('Origin');
  if (origin === null || origin === 'null') return origin ?? undefined;
  return URL.canParse(origin) && new URL(origin).origin === origin ? origin : undefined;
}

export function isPreflight(request: Request): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('Origin') &&
    request.headers.has('Access-Control-Request-Method')
  );
}

/** Tells a page which methods it may use. */
export function preflightReply(methods: string): Reply {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': 'Authorization, If-None-Match, Request-Id',
      'Access-Control-Max-Age': '86400',
    },
    body: null,
  };
}
