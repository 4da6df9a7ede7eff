// Changes to the stored document of a transaction that leave everything else in it as it is, fields of newer programs too.
// Apart from the schemas: servers work with documents as they are.

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

/** A stored document with another `updatedAt`. Its quotes are found nowhere else, because those inside of texts are escaped. */
export function withUpdatedAt(document: string, updatedAt: Timestamp): string {
  return document.replace(/"updatedAt":"[^"]*"/, `"updatedAt":"${updatedAt}"`);
}
