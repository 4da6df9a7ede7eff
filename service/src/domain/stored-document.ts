// Stored documents, the JSON strings that clients receive: splits pages into documents and edits single fields. Does not import
// the schemas, so that servers need not load them.

import { printJson } from '@offerbook/wire/decimal.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface StoredDocument {
  readonly id: Uuid;
  readonly document: string;
}

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

/** Text that starts every document but the first. Quotes inside strings are escaped, so this text occurs nowhere else. */
export const NEXT_DOCUMENT = ',{"id":"';

/** Splits the comma-separated documents of a page. */
export function splitDocuments(data: Uint8Array): StoredDocument[] {
  if (data.length === 0) return [];
  return `,${Buffer.from(data.buffer, data.byteOffset, data.length)}`
    .split(NEXT_DOCUMENT)
    .slice(1)
    .map((rest) => ({ id: rest.slice(0, rest.indexOf('"')) as Uuid, document: `{"id":"${rest}` }));
}

/** Adds the retailer, printed as JSON, as a document's last field. */
export function withRetailer(document: string, retailer: string): string {
  return `${document.slice(0, -1)},"retailer":${retailer}}`;
}
