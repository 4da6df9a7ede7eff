// When the source of a row last changed it, and the retailer of the sale. Both are stored beside the transaction's document.

import { timestampMs } from '@offerbook/wire/timestamp.ts';
import { RETAILER_FIELD, SOURCE_TIME_FIELD } from '@offerbook/wire/transaction.ts';
import type { StoredTransaction } from '../domain/transaction.ts';
import type { Row } from './attribution.ts';

/** Null if unknown. */
export function sourceMs(row: Row): number | null {
  const time = row[SOURCE_TIME_FIELD];
  return time == null ? null : timestampMs(time);
}

/** The fields of a row that are stored beside its document. Keeps the stored values of fields that the row does not have. */
export function sourceOf(row: Row, existing?: StoredTransaction) {
  return {
    sourceUpdatedAtMs: sourceMs(row) ?? existing?.sourceUpdatedAtMs ?? null,
    retailerId: row[RETAILER_FIELD] ?? existing?.retailerId ?? null,
  };
}

/**
 * Returns the transaction to store if only the row's source fields have changed; undefined if they have not changed or are
 * older.
 */
export function findNewSource(row: Row, existing: StoredTransaction): StoredTransaction | undefined {
  if (isOlder(row, existing)) return undefined;
  const { sourceUpdatedAtMs, retailerId } = sourceOf(row, existing);
  const isSame = sourceUpdatedAtMs === existing.sourceUpdatedAtMs && retailerId === existing.retailerId;
  return isSame ? undefined : { ...existing, sourceUpdatedAtMs, retailerId };
}

export function isOlder(row: Row, { sourceUpdatedAtMs }: StoredTransaction): boolean {
  const rowMs = sourceMs(row);
  return rowMs !== null && sourceUpdatedAtMs !== null && rowMs < sourceUpdatedAtMs;
}
