// Compares a client's copy with the database. A change is lost if the copy has an older version of a row, or no version.

import { type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import type { Database } from '../../../src/storage/database.ts';

export interface Comparison {
  /** Rows whose last version the copy does not have. */
  readonly lost: readonly Uuid[];
  /** Rows that only the copy has. */
  readonly extra: readonly Uuid[];
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

export async function readAll(stores: Stores, orgId: number): Promise<Map<Uuid, Transaction>> {
  const all = new Map<Uuid, Transaction>();
  await stores.transactions.read(orgId, async (batch) => {
    for (const { id, document } of batch) all.set(id, JSON.parse(document) as Transaction);
  });
  return all;
}

const VERSIONS_SQL = `
  SELECT id, updated_at AS from_stamp, document FROM transactions WHERE org_id = $1
  UNION ALL
  SELECT id, from_stamp, document FROM history WHERE org_id = $1 AND until_stamp > $2`;

/** An organisation's transactions at a stamp, from all stored versions. Slow and simple, to compare with the service's walks. */
export async function readStateAt(
  database: Database,
  orgId: number,
  at: Timestamp,
): Promise<Map<Uuid, Transaction>> {
  const atMs = timestampMs(at);
  const versions = await database.all<{ id: Uuid; from_stamp: number; document: string }>(
    VERSIONS_SQL,
    orgId,
    atMs,
  );
  return new Map(
    versions
      .filter(({ from_stamp: fromMs }) => fromMs <= atMs)
      .map(({ id, document }) => [id, JSON.parse(document) as Transaction]),
  );
}
