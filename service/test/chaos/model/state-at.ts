// Computes an organisation's transactions at a stamp from all stored versions. Slow and simple, to compare with the
// service's walks.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Database } from '../../../src/storage/database.ts';

interface Row {
  readonly id: Uuid;
  readonly from_stamp: number;
  readonly document: string;
}

export async function readStateAt(
  database: Database,
  orgId: number,
  at: Timestamp,
): Promise<Map<Uuid, Transaction>> {
  const atMs = timestampMs(at);
  const versions = await database.read(async (connection) => [
    ...(await connection.all<Row>(
      'SELECT id, updated_at AS from_stamp, document FROM transactions WHERE org_id = $1',
      orgId,
    )),
    ...(await connection.all<Row>(
      'SELECT id, from_stamp, document FROM history WHERE org_id = $1 AND until_stamp > $2',
      orgId,
      atMs,
    )),
  ]);
  return new Map(
    versions
      .filter(({ from_stamp: fromMs }) => fromMs <= atMs)
      .map(({ id, document }) => [id, JSON.parse(document) as Transaction]),
  );
}
