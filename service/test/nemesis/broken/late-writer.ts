// A writer without protection 1: it takes its stamp before it locks the change clock, and commits after others have committed
// later stamps. Services that use now() as the stamp do this.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { printTransaction, type UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { TRANSACTIONS } from '../../../src/storage/database.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../../src/storage/open-stores.ts';

/** Stamps a row immediately; the returned function writes it later. */
export function stampEarly(databaseUrl: string, orgId: number, row: UnstampedTransaction, stampMs: number) {
  const document = printTransaction(row, printTimestamp(stampMs));
  return async function commitLate(): Promise<void> {
    const database = openDatabase(databaseUrl, COMMAND_OPTIONS);
    await database.write(async (connection) => {
      await connection.putMany(TRANSACTIONS, [
        {
          ...{ id: row.id, org_id: orgId, updated_at: stampMs, document, import_id: 0 },
          ...{ source_updated_at: null, user_key: null, retailer_id: null },
        },
      ]);
      await connection.all(
        'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2',
        orgId,
        stampMs,
      );
    });
    await database.close();
  };
}
