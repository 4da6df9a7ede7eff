// Reads, verifies and rebuilds the daily totals. Verifying and rebuilding read every transaction.

import type { DailyTotal, DailyTotalStore, DaySales, OnCounted, Sale } from '../../domain/transaction.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { lockClocks } from './change-clock.ts';
import { DailySums, TOTAL_COLUMNS } from './daily-sums.ts';
import { readBatches } from './read-batches.ts';
import { exportQuery } from './transaction-store.ts';

const READ_BATCH = 5_000;

/** Compares row values, so that an index seek finds the start. */
const READ_SQL = `SELECT ${TOTAL_COLUMNS} FROM daily_totals
  WHERE (org_id, day, currency, status) > ($1, $2, $3, $4)
  ORDER BY org_id, day, currency, status LIMIT ${READ_BATCH}`;

/** Seeks each organisation's first day, because the index starts with the organisation. */
const COUNT_DAYS_SQL = `SELECT d.day, sum(d.count) AS count
   FROM organisations o JOIN daily_totals d ON d.org_id = o.id AND d.day >= $1
  WHERE o.deleting_since IS NULL GROUP BY d.day ORDER BY d.day`;

export function dailyTotalStore(database: Database): DailyTotalStore {
  return {
    countDays: async (sinceDay) => {
      const days = await database.all<DaySales>(COUNT_DAYS_SQL, sinceDay);
      // PostgreSQL's sum of bigints is a decimal string.
      return days.map(({ day, count }) => ({ day, count: Number(count) }));
    },

    read: (onBatch) =>
      database.readOnce((connection) => readTotals(connection, async (batch) => onBatch(batch))),

    verify: (onCounted) =>
      database.readOnce(async (connection) => {
        // Skips organisations that are being deleted: some of their transactions are gone, but not their totals.
        const orgs = await connection.all<{ id: number }>(
          'SELECT id FROM organisations WHERE deleting_since IS NULL ORDER BY id',
        );
        const orgIds = new Set(orgs.map(({ id }) => id));
        const stored = new DailySums();
        await readTotals(connection, async (batch) => {
          for (const total of batch) if (orgIds.has(total.orgId)) stored.addTotal(total);
        });
        const counted = new DailySums();
        await countAll(connection, orgIds, counted, onCounted);
        return [...new Set([...stored.keys(), ...counted.keys()])]
          .map((key) => ({ stored: stored.find(key), counted: counted.find(key) }))
          .filter((both) => !Bun.deepEquals(both.stored, both.counted));
      }),

    rebuild: (onCounted) =>
      database.write(async (connection) => {
        const orgIds = [...(await lockClocks(connection)).keys()];
        for (const orgId of orgIds) await connection.all('DELETE FROM daily_totals WHERE org_id = $1', orgId);
        const counted = new DailySums();
        await countAll(connection, orgIds, counted, onCounted, () => counted.storeIfLarge(connection));
        await counted.store(connection);
      }),
  };
}

/** Reads the totals of all organisations, including those that are being deleted. */
export async function readTotals(
  queries: Queries,
  onBatch: (batch: DailyTotal[]) => Promise<unknown>,
): Promise<void> {
  let batch: DailyTotal[];
  let last = { orgId: 0, day: '', currency: '', status: '' };
  do {
    const { orgId, day, currency, status } = last;
    batch = await queries.all<DailyTotal>(READ_SQL, orgId, day, currency, status);
    if (batch.length > 0) await onBatch(batch);
    last = batch.at(-1) ?? last;
  } while (batch.length === READ_BATCH);
}

async function countAll(
  connection: Connection,
  orgIds: Iterable<number>,
  sums: DailySums,
  onCounted: OnCounted = () => {},
  onBatch: () => Promise<void> = async () => {},
): Promise<void> {
  let count = 0;
  for (const orgId of orgIds) {
    await readBatches(connection, exportQuery(orgId), async (batch) => {
      for (const { document } of batch) sums.addSale(orgId, JSON.parse(document) as Sale);
      await onBatch();
      count += batch.length;
      onCounted(count);
    });
  }
}
