// Clients, writers and readers without the protections against lost changes, to show that the harness detects the losses.

import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { printTransaction, type UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ENVELOPE_START, envelopeEnd } from '../../src/domain/page.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { TRANSACTIONS } from '../../src/storage/schema/tables.ts';
import type { Send } from './traffic/page-reader.ts';
import { type FetchPage, type Poller, tilingPoller } from './traffic/pollers.ts';

async function withDatabase<Result>(
  url: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(url, COMMAND_OPTIONS);
  return await work(database).finally(() => database.close());
}

/** Takes a stamp before it locks the change clock, like services whose stamp is now(); the returned function commits later. */
export function stampEarly(databaseUrl: string, orgId: number, row: UnstampedTransaction, stampMs: number) {
  const document = printTransaction(row, printTimestamp(stampMs));
  const stored = { id: row.id, org_id: orgId, updated_at: stampMs, document, import_id: 0 };
  return () =>
    withDatabase(databaseUrl, (database) =>
      database.write(async (connection) => {
        const nothing = { source_updated_at: null, user_key: null, retailer_id: null };
        await connection.putMany(TRANSACTIONS, [{ ...stored, ...nothing }]);
        const sql = 'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2';
        await connection.all(sql, orgId, stampMs);
      }),
    );
}

/** Orders pages by (updatedAt, id), and continues at the cursor's row. When that row changes, the position moves with it. */
export function movingOrder(databaseUrl: string, orgId: number): Send {
  return async (path) => {
    const parameters = new URL(path, 'http://chaos.invalid').searchParams;
    const [limit, cursor] = [Number(parameters.get('limit')), parameters.get('cursor')];
    const afterMs = timestampMs(
      (parameters.get('updatedAtGreaterThan') ?? '1970-01-01T00:00:00') as Timestamp,
    );
    const { clock, rows } = await withDatabase(databaseUrl, async (database) => ({
      clock: await database.all<{ last_stamp: number }>(
        'SELECT last_stamp FROM organisations WHERE id = $1',
        orgId,
      ),
      rows: await database.all<{ id: Uuid; updated_at: number; document: string }>(
        'SELECT id, updated_at, document FROM transactions WHERE org_id = $1 ORDER BY updated_at, id',
        orgId,
      ),
    }));
    const place = cursor === null ? 0 : rows.findIndex(({ id }) => id === cursor);
    const found = rows.slice(place).filter((row) => row.updated_at > afterMs);
    const documents = found.slice(0, limit).map(({ document }) => document);
    return new Response(ENVELOPE_START + documents.join() + envelopeEnd(found[limit]?.id), {
      headers: { 'Complete-Through': printTimestamp(clock[0]?.last_stamp ?? 0) },
    });
  };
}

/** Treats an exclusive bound as inclusive, so that the windows (…, T) and (T, …) both exclude changes stamped T. */
export function gapPoller(fetchPage: FetchPage, random: Random): Poller {
  return tilingPoller(fetchPage, random, (end) => end);
}
