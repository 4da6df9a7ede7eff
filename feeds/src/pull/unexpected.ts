// Errors in responses with status 200.

import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';

/** A response that is not what the network documents. Repeating the request may help. */
export function unexpected(field = 'the response', reason = 'is not the expected document'): BrokenFile {
  return new BrokenFile({ line: 1 }, { field, reason });
}

/** The network rejects the request. Repeating it cannot help. The message is the network's. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}
