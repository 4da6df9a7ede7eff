// Edits single fields of a stored transaction document. Does not import the schemas, so that servers need not load them.

import { printJson } from '@offerbook/wire/decimal.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';

/** Removes the user id and passback data from a document, and sets `updatedAt` if given. */
export function withoutUser(document: string, updatedAt?: Timestamp): string {
  const stored = JSON.parse(document) as Transaction;
  return printJson({
    ...stored,
    passbackUid: null,
    passbackData: null,
    updatedAt: updatedAt ?? stored.updatedAt,
  });
}

/**
 * Returns the field as it appears in a document. Quotes in strings are escaped, so nothing else in the document can match it.
 */
export function printedPassbackUid(passbackUid: string): string {
  return `"passbackUid":${JSON.stringify(passbackUid)}`;
}

/** Sets `updatedAt` in a document. Quotes in strings are escaped, so only the field can match the pattern. */
export function withUpdatedAt(document: string, updatedAt: Timestamp): string {
  return document.replace(/"updatedAt":"[^"]*"/, `"updatedAt":"${updatedAt}"`);
}
