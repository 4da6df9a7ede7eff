// What the client library says to programmers, in words for whoever typed a command.

import { type OfferbookError, TimeoutError, TokenError } from '@offerbook/client';

export function clientWords(error: OfferbookError): string {
  if (error instanceof TimeoutError)
    return 'The service did not answer in time: it is slow, or something is in the way.';
  if (!(error instanceof TokenError)) return error.message;
  return error.code === 'wrong_token_kind'
    ? 'OFFERBOOK_TOKEN holds a public token. Transactions take a private one, which starts with ob_prv_.'
    : 'OFFERBOOK_TOKEN holds no token. A private one starts with ob_prv_ and goes on with letters and digits; check that the whole token was copied.';
}
