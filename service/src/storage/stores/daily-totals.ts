// Daily totals of transactions. A write of transactions collects its changes in memory and adds them to the stored totals before it
// commits. The lock on the organisation's change clock, which every such write holds, also protects the organisation's totals.
// Verifying and rebuilding the totals reads every transaction.

import { DecimalSum } from '@offerbook/wire/amount.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { StoredDocument } from '../../domain/stored-document.ts';
import type { DailyTotal, DailyTotalStore, OnCounted, Sale } from '../../domain/transaction.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { scan } from '../scan.ts';
import type { RowOf } from '../schema/table.ts';
import { DAILY_TOTALS, TRANSACTIONS } from '../schema/tables.ts';
import type { Dialect, Statement } from '../sql.ts';
import { lockClocks } from './change-clock.ts';

/** Bounds the memory use of an import whose sales span very many days. */
const SUMS_MAX = 10_000;

type Row = RowOf<typeof DAILY_TOTALS>;
type SumKey = Omit<DailyTotal, 'count' | 'orderValue' | 'cashback'>;

interface DailySum extends SumKey {
  count: number;
  readonly orderValue: DecimalSum;
  readonly cashback: DecimalSum;
}

const ofDays = ({ isOneOf, valuesTable }: Dialect) =>
  `FROM daily_totals WHERE org_id = $1 AND day ${isOneOf(`SELECT value FROM ${valuesTable('$2', 'text')}`)}`;
const FIND_SQL: Statement = (sql) => `SELECT * ${ofDays(sql)}`;
const DELETE_EMPTY_SQL: Statement = (sql) => `DELETE ${ofDays(sql)} AND count = 0`;

/** Sums by organisation, day, currency and status. */
export class DailySums extends Map<string, DailySum> {
  /** Adds a sale, or subtracts it if the sign is -1. */
  addSale(orgId: number, sale: Sale, sign: 1 | -1 = 1): void {
    const { soldAt, currencyCode: currency, status } = sale;
    const sum = this.#at({ orgId, day: soldAt.slice(0, 10), currency, status });
    sum.count += sign;
    sum.orderValue.add(sign * sale.orderValue);
    sum.cashback.add(sign * sale.cashback);
  }

  addTotal(total: DailyTotal): void {
    const sum = this.#at(total);
    sum.count += total.count;
    sum.orderValue.add(total.orderValue);
    sum.cashback.add(total.cashback);
  }

  find(key: string): DailyTotal | undefined {
    const sum = this.get(key);
    return sum && { ...sum, orderValue: sum.orderValue.toString(), cashback: sum.cashback.toString() };
  }

  async storeIfLarge(connection: Connection): Promise<void> {
    if (this.size > SUMS_MAX) await this.store(connection);
  }

  /** Adds these sums to the stored totals, then clears the sums. */
  async store(connection: Connection): Promise<void> {
    for (const [orgId, sums] of Map.groupBy(this.values(), (sum) => sum.orgId)) {
      const days = JSON.stringify([...new Set(sums.map(({ day }) => day))]);
      for (const row of await connection.all<Row>(FIND_SQL, orgId, days)) this.addTotal(toTotal(row));
      await connection.putMany(DAILY_TOTALS, sums.map(toRow));
      await connection.all(DELETE_EMPTY_SQL, orgId, days);
    }
    this.clear();
  }

  #at(key: SumKey): DailySum {
    const name = keyOf(key);
    const known = this.get(name);
    if (known !== undefined) return known;
    const { orgId, day, currency, status } = key;
    const amounts = { orderValue: new DecimalSum(), cashback: new DecimalSum() };
    const sum = { orgId, day, currency, status, count: 0, ...amounts };
    this.set(name, sum);
    return sum;
  }
}

function keyOf({ orgId, day, currency, status }: SumKey): string {
  return `${orgId} ${day} ${currency} ${status}`;
}

function toRow({ orgId, orderValue, cashback, ...row }: DailySum) {
  return { ...row, org_id: orgId, order_value: orderValue.toString(), cashback: cashback.toString() };
}

/** Seeks each organisation's first day, because the index starts with the organisation. */
const COUNT_DAYS_SQL = `SELECT d.day, sum(d.count) AS count
   FROM organisations o JOIN daily_totals d ON d.org_id = o.id AND d.day >= $1
  WHERE o.deleting_since IS NULL GROUP BY d.day ORDER BY d.day`;

export function dailyTotalStore(database: Database): DailyTotalStore {
  return {
    countDays: async (sinceDay) => {
      const days = await database.all<Pick<DailyTotal, 'day' | 'count'>>(COUNT_DAYS_SQL, sinceDay);
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
        await storeCounted(connection, orgIds, onCounted);
      }),
  };
}

/** Counts all transactions of organisations that have no totals yet. */
export async function storeCounted(
  connection: Connection,
  orgIds: Iterable<number>,
  onCounted?: OnCounted,
): Promise<void> {
  const counted = new DailySums();
  await countAll(connection, orgIds, counted, onCounted, () => counted.storeIfLarge(connection));
  await counted.store(connection);
}

/** Reads the totals of all organisations, including those that are being deleted. */
export function readTotals(
  queries: Queries,
  onBatch: (batch: DailyTotal[]) => Promise<unknown>,
): Promise<void> {
  return scan<Row>(queries, { table: DAILY_TOTALS }, (rows) => onBatch(rows.map(toTotal)));
}

function toTotal({ org_id, order_value, status, ...row }: Row): DailyTotal {
  return { ...row, status: status as Status, orgId: org_id, orderValue: order_value };
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
    const transactions = { table: TRANSACTIONS, orgId, columns: 'id, document' };
    await scan<StoredDocument>(connection, transactions, async (batch) => {
      for (const { document } of batch) sums.addSale(orgId, JSON.parse(document) as Sale);
      await onBatch();
      count += batch.length;
      onCounted(count);
    });
  }
}
