// The response headers in the OpenAPI document, each with a description and an example.

import type { ErrorCode } from '../../domain/api-errors.ts';
import type { Schema } from './component-schemas.ts';

export const HEADERS = {
  'Request-Id': requiredHeader(
    'Id of this request. An id that you send is used if it has at most 128 characters, all of them letters, digits or . : / + = @ -',
    '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  ),
  RateLimit: header(
    'Requests left in the current window (r), and seconds until the window ends (t).',
    '"public";r=5999;t=60',
  ),
  'RateLimit-Policy': header(
    'Maximum number of requests (q) per window of w seconds.',
    '"public";q=6000;w=60',
  ),
  Link: header(
    'URL of the next page, if there is one.',
    '<https://api.example/v1/retailers/?cursor=0192d1a0-0000-7000-8000-000000000001>; rel="next"',
  ),
  ETag: requiredHeader(
    'Send this value as If-None-Match. If nothing has changed, the response is 304 without a body.',
    '"1x7f0g2k3"',
  ),
  'Cache-Control': requiredHeader(
    'How long the response may be cached, and by which caches. Catalogue responses may be cached for one minute, or less if one of their coupons or promotions starts or ends sooner.',
    'private, max-age=60',
  ),
  Vary: requiredHeader('Request headers that the response depends on.', 'Authorization, Accept-Encoding'),
  'Complete-Through': requiredHeader(
    'The page is complete through this time: it reflects every change stamped at or before it, and every later change will have a greater `updatedAt`.',
    '2026-11-14T12:05:31.482',
  ),
  'WWW-Authenticate': header(
    'The authentication scheme, and the error for the token.',
    'Bearer realm="offerbook", error="invalid_token"',
  ),
  'Retry-After': requiredHeader('Seconds to wait before retrying.', 2),
  Allow: requiredHeader('Supported methods.', 'GET, HEAD'),
};

/** Headers that only activation links return. */
export const ACTIVATION_HEADERS = {
  Location: requiredHeader('URL of the shop.', 'https://network.example/click?sub=Vb89jzL001biPkmMApa4tT'),
  'Offerbook-Click': requiredHeader(
    'What happened to the click: `recorded`; `untracked` (recorded, but the operator has no link for the shop, so sales are not attributed); `repeated` (same click as an earlier request); or `ignored` with the reason: `crawler`, `preview`, `prefetch`, `embedded`, `limit` (rate limit) or `unavailable` (could not be recorded).',
    'recorded',
  ),
  'Referrer-Policy': requiredHeader('Hides the referring page from the shop.', 'no-referrer'),
  'X-Robots-Tag': requiredHeader('Asks search engines not to index the link.', 'noindex'),
};

export type HeaderName = keyof typeof HEADERS | keyof typeof ACTIVATION_HEADERS;

export function headerRefs(names: readonly HeaderName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of every error. The RateLimit headers are present if the request counted towards a limit. */
export const COMMON_ERROR_HEADERS: readonly HeaderName[] = [
  'Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
];

export const ERROR_HEADERS: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  missing_token: ['WWW-Authenticate'],
  invalid_token: ['WWW-Authenticate'],
  wrong_token_kind: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  rate_limited: ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** A header that is always present on the responses that list it. */
function requiredHeader(description: string, example: string | number): Schema {
  return { ...header(description, example), required: true };
}

function header(description: string, example: string | number): Schema {
  return { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example };
}
