// Daily sums of transactions in memory. A write of transactions collects its changes here and adds them to the stored totals
// before it commits. The lock on the organisation's change clock, which every such write holds, also protects its totals.

import { DecimalSum } from '@offerbook/wire/decimal-sum.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { DailyTotal, Sale } from '../../domain/daily-total.ts';
import { type Connection, columnsOf, DAILY_TOTALS } from '../database.ts';
import type { Sql, Statement } from '../sql.ts';

/** Bounds the memory of an import with sales of very many days. */
const SUMS_MAX = 10_000;

export interface TotalRow {
  readonly org_id: number;
  readonly day: string;
  readonly currency: string;
  readonly status: Status;
  readonly count: number;
  readonly order_value: string;
  readonly cashback: string;
}

const ofDays = ({ isOneOf, valuesTable }: Sql) =>
  `FROM daily_totals WHERE org_id = $1 AND day ${isOneOf(`SELECT value FROM ${valuesTable('$2', 'text')}`)}`;
const FIND_SQL: Statement = (sql) => `SELECT ${columnsOf(DAILY_TOTALS).join(', ')} ${ofDays(sql)}`;
const DELETE_EMPTY_SQL: Statement = (sql) => `DELETE ${ofDays(sql)} AND count = 0`;

/** Sums by organisation, day, currency and status. */
export class DailySums extends Map<string, DailyTotal> {
  /** Adds a sale, or subtracts it if the sign is -1. */
  addSale(orgId: number, sale: Sale, sign: 1 | -1 = 1): void {
    const sum = this.#at(orgId, sale.soldAt.slice(0, 10), sale.currencyCode, sale.status);
    sum.count += sign;
    sum.orderValue.add(sign * sale.orderValue);
    sum.cashback.add(sign * sale.cashback);
  }

  addRow(row: TotalRow): void {
    const sum = this.#at(row.org_id, row.day, row.currency, row.status);
    sum.count += row.count;
    sum.orderValue.add(row.order_value);
    sum.cashback.add(row.cashback);
  }

  /** Calls store() if the sums need too much memory. */
  async storeIfLarge(connection: Connection): Promise<void> {
    if (this.size > SUMS_MAX) await this.store(connection);
  }

  /** Adds the sums to the stored totals and forgets them. */
  async store(connection: Connection): Promise<void> {
    for (const [orgId, sums] of Map.groupBy(this.values(), (sum) => sum.orgId)) {
      const days = JSON.stringify([...new Set(sums.map(({ day }) => day))]);
      for (const row of await connection.all<TotalRow>(FIND_SQL, orgId, days))
        if (this.has(keyOf(row.org_id, row.day, row.currency, row.status))) this.addRow(row);
      await connection.putMany(DAILY_TOTALS, sums.map(toRow));
      await connection.all(DELETE_EMPTY_SQL, orgId, days);
    }
    this.clear();
  }

  #at(orgId: number, day: string, currency: string, status: Status): DailyTotal {
    const key = keyOf(orgId, day, currency, status);
    const known = this.get(key);
    if (known !== undefined) return known;
    const amounts = { orderValue: new DecimalSum(), cashback: new DecimalSum() };
    const sum = { orgId, day, currency, status, count: 0, ...amounts };
    this.set(key, sum);
    return sum;
  }
}

function keyOf(orgId: number, day: string, currency: string, status: Status): string {
  return `${orgId} ${day} ${currency} ${status}`;
}

function toRow({ orgId, day, currency, status, count, orderValue, cashback }: DailyTotal): TotalRow {
  const amounts = { order_value: orderValue.toString(), cashback: cashback.toString() };
  return { org_id: orgId, day, currency, status, count, ...amounts };
}
