// What can be told from a token's text and from where we run, before anything is sent. The token itself is
// never repeated in a message.

import { isBrowser } from './browser.ts';
import { TokenError } from './errors.ts';

export type TokenKind = 'public' | 'private';

export function parseTokenKind(token: string): TokenKind {
  // An environment variable that is not set ends up here as undefined.
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
      'The token must start with ob_pub_ or ob_prv_ and go on with letters and digits. Check that the whole token was copied, without spaces or line breaks.',
    );
  }
  if (prefix === 'pub') return 'public';
  if (isBrowser()) {
    throw new TokenError(
      'private_token_in_browser',
      'A private token must not be used in a browser or an app: everyone who opens it can read the token. Take it out, have it revoked, and read transactions from your server.',
    );
  }
  return 'private';
}

export function requireKind(actual: TokenKind, needed: TokenKind, operation: string): void {
  if (actual === needed) return;
  throw new TokenError(
    'wrong_token_kind',
    `${operation}() takes a ${needed} token, which starts with ob_${needed === 'public' ? 'pub' : 'prv'}_; this client has a ${actual} one. Construct another client for it.`,
  );
}
