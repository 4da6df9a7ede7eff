// What the writing thread is told, and what it answers. Rows travel as a few long texts: the time that it takes
// to copy a message between threads goes by the number of its parts, not by their length.

import { BadInput, DatabaseUnavailable, Refused } from '../domain/errors.ts';
import type { StoredTransaction } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';

export type ThreadRequest =
  | { readonly kind: 'begin'; readonly databaseUrl: string; readonly orgId: number }
  | { readonly kind: 'find'; readonly ids: readonly Uuid[] }
  | { readonly kind: 'put'; readonly rows: PackedTransactions }
  | { readonly kind: 'advanceClock'; readonly toMs: number }
  | { readonly kind: 'commit' }
  | { readonly kind: 'undo' };

export type ThreadReply =
  | { readonly kind: 'begun'; readonly stampMs: number }
  | { readonly kind: 'found'; readonly rows: PackedTransactions; readonly orgIds: Float64Array }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: PackedError };

export interface PackedTransactions {
  readonly ids: string;
  readonly stampsMs: Float64Array;
  readonly documents: string;
}

type UnownedTransaction = Omit<StoredTransaction, 'orgId'>;

/** A printed JSON text has no line break in it, and an id no comma. */
const BETWEEN_DOCUMENTS = '\n';
const BETWEEN_IDS = ',';

export function packTransactions(rows: readonly UnownedTransaction[]): PackedTransactions {
  return {
    ids: rows.map(({ id }) => id).join(BETWEEN_IDS),
    stampsMs: Float64Array.from(rows, ({ updatedAtMs }) => updatedAtMs),
    documents: rows.map(({ document }) => document).join(BETWEEN_DOCUMENTS),
  };
}

export function unpackTransactions(packed: PackedTransactions): UnownedTransaction[] {
  const ids = packed.ids.split(BETWEEN_IDS) as Uuid[];
  const documents = packed.documents.split(BETWEEN_DOCUMENTS);
  return Array.from(packed.stampsMs, (updatedAtMs, i) => ({
    id: ids[i] as Uuid,
    updatedAtMs,
    document: documents[i] as string,
  }));
}

export interface PackedError {
  readonly name: string;
  readonly message: string;
}

const ERRORS_BY_NAME = new Map(
  [BadInput, Refused, DatabaseUnavailable].map((each) => [new each().name as string, each]),
);

export function packError(error: unknown): PackedError {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };
}

/** The kind of an error decides about the exit code, so it comes back as what it was. */
export function reviveError({ name, message }: PackedError): Error {
  return new (ERRORS_BY_NAME.get(name) ?? Error)(message);
}
