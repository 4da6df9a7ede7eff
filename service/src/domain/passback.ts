// What tells whose transaction a stored document is. Apart from the schemas: servers work with documents as they are.

import { printJson } from './decimal.ts';
import type { Timestamp } from './timestamp.ts';
import type { Transaction } from './transaction.ts';

/** A stored document without what tells whose transaction it is; with another `updatedAt` where one is given. */
export function withoutUser(document: string, updatedAt?: Timestamp): string {
  const stored = JSON.parse(document) as Transaction;
  return printJson({
    ...stored,
    passbackUid: null,
    passbackData: null,
    updatedAt: updatedAt ?? stored.updatedAt,
  });
}

/** The field as it is printed. A quote inside any text is escaped, so nothing else in a document looks like it. */
export function printedPassbackUid(passbackUid: string): string {
  return `"passbackUid":${JSON.stringify(passbackUid)}`;
}
