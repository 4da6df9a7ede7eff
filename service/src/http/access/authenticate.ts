// Who is calling: reads the bearer token, finds it, and checks that it is of the kind that the operation
// takes. Tokens are read from the Authorization header only, and never repeated in an answer or the log.

import { type AccessToken, parseTokenKind, type TokenKind } from '../../domain/access-token.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { type Span, useDatabase } from '../../tracing/tracer.ts';
import { withinDeadline } from '../operations/database-deadline.ts';
import { isFromBrowser } from './from-browser.ts';
import type { TokenDirectory } from './token-directory.ts';

const REALM = 'Bearer realm="offerbook"';

export async function authenticate(
  authorization: string | null,
  tokens: TokenDirectory,
  span?: Span,
): Promise<AccessToken> {
  const text = readBearer(authorization);
  // What is no token at all is looked for like any other: an answer that came sooner would tell them apart.
  return tokens.findKnown(text) ?? findNew(text, tokens, span);
}

export function requireKind(token: AccessToken, kind: TokenKind, headers: Headers): void {
  if (token.kind !== kind) {
    throw new ApiError(
      'wrong_token_kind',
      `This operation takes ${kind} tokens only; a ${token.kind} token was sent.`,
      {
        headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope"` },
      },
    );
  }
  if (kind === 'private' && isFromBrowser(headers)) {
    throw new ApiError(
      'private_token_in_browser',
      'The request has a header that only browsers send: Origin or Sec-Fetch-Site. Private tokens are for servers only.',
    );
  }
}

function readBearer(authorization: string | null): string {
  if (authorization !== null) {
    const [, token] = /^bearer +(.*)$/i.exec(authorization.trim()) ?? [];
    if (token !== undefined) return token;
    // Several header lines arrive as one list. With a token among them, all of it is taken for a token, which it is not.
    if (/, *bearer( |$)/i.test(withoutQuotes(authorization))) return authorization;
  }
  throw new ApiError('missing_token', 'Send the header "Authorization: Bearer <token>".', {
    headers: { 'WWW-Authenticate': REALM },
  });
}

/** What stands in quotes is a parameter of another scheme. */
function withoutQuotes(authorization: string): string {
  return authorization.replaceAll(/"[^"]*"/g, '');
}

/** Whether an unknown token is good cannot be told without the database: neither yes nor no would be true. */
async function findNew(text: string, tokens: TokenDirectory, span: Span | undefined): Promise<AccessToken> {
  try {
    const token = await withinDeadline(useDatabase(span, 'SELECT', 'tokens', () => tokens.findNew(text)));
    if (token !== undefined) return token;
  } catch (error) {
    // Unless its checksum tells it.
    if (parseTokenKind(text) !== undefined) throw error;
  }
  // One answer for all reasons, so that it cannot be used to find out which tokens exist.
  throw new ApiError('invalid_token', 'The access token is malformed, unknown, expired or revoked.', {
    headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
  });
}
