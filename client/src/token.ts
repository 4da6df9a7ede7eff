// Checks a token's format and kind before anything is sent. Messages never repeat the token.

import { isBrowser } from './browser.ts';
import { TokenError } from './errors.ts';

export type TokenKind = 'public' | 'private';

export function parseTokenKind(token: string): TokenKind {
  // An unset environment variable arrives here as undefined.
  if (!token) {
    throw new TokenError(
      'missing_token',
      'No token was given. Tokens start with ob_pub_ or ob_prv_; the operator of the service issues them.',
    );
  }
  const [, prefix] = /^ob_(pub|prv)_[0-9A-Za-z]+$/.exec(token) ?? [];
  if (prefix === undefined) {
    throw new TokenError(
      'invalid_token',
      'The token must start with ob_pub_ or ob_prv_, followed by letters and digits. Check that you copied all of it, without spaces or line breaks.',
    );
  }
  if (prefix === 'pub') return 'public';
  if (isBrowser()) {
    throw new TokenError(
      'private_token_in_browser',
      'A private token must not be used in a browser or an app, where every user can read it. Remove it, have it revoked, and read transactions from your server.',
    );
  }
  return 'private';
}

export function requireKind(actual: TokenKind, needed: TokenKind, operation: string): void {
  if (actual === needed) return;
  throw new TokenError(
    'wrong_token_kind',
    `${operation}() needs a ${needed} token, which starts with ob_${needed === 'public' ? 'pub' : 'prv'}_; this client has a ${actual} one. Create another client for it.`,
  );
}
