// Compares a poller's copy with the database. A change is lost if the copy has an older version of a row, or no version.

import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../../src/domain/stores.ts';

export interface Comparison {
  /** Rows whose last version the copy does not have. */
  readonly lost: readonly Uuid[];
  /** Rows that only the copy has. */
  readonly extra: readonly Uuid[];
}

export async function readAll(stores: Stores, orgId: number): Promise<Map<Uuid, Transaction>> {
  const all = new Map<Uuid, Transaction>();
  await stores.transactions.read(orgId, async (batch) => {
    for (const { id, document } of batch) all.set(id, JSON.parse(document) as Transaction);
  });
  return all;
}

export function compare(
  truth: ReadonlyMap<Uuid, Transaction>,
  copy: ReadonlyMap<Uuid, Transaction>,
): Comparison {
  return {
    lost: [...truth].filter(([id, row]) => !Bun.deepEquals(row, copy.get(id), true)).map(([id]) => id),
    extra: [...copy.keys()].filter((id) => !truth.has(id)),
  };
}
