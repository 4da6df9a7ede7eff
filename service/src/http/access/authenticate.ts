// The steps of authentication: read the bearer token, look it up, and check its kind. Tokens are accepted only in the
// Authorization header, and never appear in a response or in the log.

import { type AccessToken, parseTokenKind, type TokenKind } from '../../domain/access-token.ts';
import { ApiError, ERRORS } from '../../domain/api-errors.ts';
import { type Span, useDatabase } from '../../tracing/tracer.ts';
import { withinDeadline } from '../operations/database-deadline.ts';
import { hasToken } from '../operations/query.ts';
import type { TokenDirectory } from './token-directory.ts';

/** What documentation shows in place of a token: `ob_pub_…`, `<token>`, `$TOKEN`. */
const PLACEHOLDER = /^(ob_(pub|prv)_)?(\W+|\W*[<{$].*)$/i;
const REALM = 'Bearer realm="offerbook"';

export function requireKind(token: AccessToken, kind: TokenKind, headers: Headers): void {
  if (token.kind !== kind) {
    throw new ApiError(
      'wrong_token_kind',
      `This operation accepts only ${kind} tokens, but a ${token.kind} token was sent.`,
      {
        headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope"` },
      },
    );
  }
  if (kind === 'private' && isFromBrowser(headers)) {
    throw new ApiError('private_token_in_browser', ERRORS.private_token_in_browser.detail);
  }
}

export function readBearer(authorization: string | null, search: string): string {
  if (authorization !== null) {
    const [, token] = /^bearer +(.*)$/i.exec(authorization.trim()) ?? [];
    if (token !== undefined) return token;
    // Bun joins several Authorization headers with commas. Treat the joined value as an invalid token.
    if (/, *bearer( |$)/i.test(withoutQuotes(authorization))) return authorization;
  }
  const hint = authorization?.trim().startsWith('ob_')
    ? ' The word Bearer is missing.'
    : hasToken(search)
      ? ' Tokens in the query string are not accepted, and may have been logged on the way: ask for a new one.'
      : '';
  throw new ApiError('missing_token', ERRORS.missing_token.detail + hint, {
    headers: { 'WWW-Authenticate': REALM },
  });
}

/** Removes quoted strings, because a parameter of another scheme could contain `, Bearer`. */
function withoutQuotes(authorization: string): string {
  return authorization.replaceAll(/"[^"]*"/g, '');
}

/** Looks up a token that is not in memory, even a malformed one: response times must not reveal which tokens exist. */
export async function findNew(
  text: string,
  tokens: TokenDirectory,
  span: Span | undefined,
): Promise<AccessToken> {
  try {
    const token = await withinDeadline(useDatabase(span, 'SELECT', 'tokens', () => tokens.findNew(text)));
    if (token !== undefined) return token;
  } catch (error) {
    // A wrong checksum proves that the token is invalid. Any other token may be valid, so the response is 503 instead of 401.
    if (parseTokenKind(text) !== undefined) throw error;
  }
  // Every other invalid token gets the same response, which therefore does not reveal which tokens exist.
  const detail = PLACEHOLDER.test(text)
    ? 'This is a placeholder. Replace it with your access token.'
    : ERRORS.invalid_token.detail;
  throw new ApiError('invalid_token', detail, {
    headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
  });
}

/**
 * Detects browsers by headers that scripts can neither omit nor change. Anyone can forge them, so this catches honest mistakes,
 * not attackers. A same-origin GET has no Origin, and Sec-Fetch-Mode "cors" proves nothing: Node's fetch also sends it.
 */
export function isFromBrowser(headers: Headers): boolean {
  if (headers.has('Origin') || headers.has('Sec-Fetch-Site')) return true;
  const mode = headers.get('Sec-Fetch-Mode');
  return mode !== null && mode !== 'cors';
}

/** Returns the Origin header if it is well-formed. Any other value could contain a token, and must not be logged. */
export function pageOrigin(headers: Headers): string | undefined {
  const origin = headers.get('Origin');
  if (origin === null || origin === 'null') return origin ?? undefined;
  return URL.canParse(origin) && new URL(origin).origin === origin ? origin : undefined;
}
