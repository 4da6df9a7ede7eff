// Edits single fields of a stored transaction document and keeps all others, including those written by newer programs.
// Does not load the schemas, which servers do not need.

import { printJson } from '@offerbook/wire/decimal.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';

/** Removes user id and passback data from a document, and sets `updatedAt` if given. */
export function withoutUser(document: string, updatedAt?: Timestamp): string {
  const stored = JSON.parse(document) as Transaction;
  return printJson({
    ...stored,
    passbackUid: null,
    passbackData: null,
    updatedAt: updatedAt ?? stored.updatedAt,
  });
}

/** Returns the field as printed in a document. Quotes inside strings are escaped, so it cannot match anything else. */
export function printedPassbackUid(passbackUid: string): string {
  return `"passbackUid":${JSON.stringify(passbackUid)}`;
}

/** Sets `updatedAt` in a document. Quotes inside strings are escaped, so the pattern matches only the field. */
export function withUpdatedAt(document: string, updatedAt: Timestamp): string {
  return document.replace(/"updatedAt":"[^"]*"/, `"updatedAt":"${updatedAt}"`);
}
