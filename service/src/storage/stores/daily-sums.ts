// In-memory daily sums of transactions. A write of transactions collects its changes here and adds them to the stored totals
// before it commits. The lock on the organisation's change clock, which every such write holds, also protects the organisation's
// totals.

import { DecimalSum } from '@offerbook/wire/amount.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { DailyTotal, Sale } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { DAILY_TOTALS } from '../schema/tables.ts';
import type { Sql, Statement } from '../sql.ts';

/** Bounds the memory use of an import whose sales span very many days. */
const SUMS_MAX = 10_000;

/** The columns of a DailyTotal. */
export const TOTAL_COLUMNS =
  'org_id AS "orgId", day, currency, status, count, order_value AS "orderValue", cashback';

interface DailySum {
  readonly orgId: number;
  readonly day: string;
  readonly currency: string;
  readonly status: Status;
  count: number;
  readonly orderValue: DecimalSum;
  readonly cashback: DecimalSum;
}

const ofDays = ({ isOneOf, valuesTable }: Sql) =>
  `FROM daily_totals WHERE org_id = $1 AND day ${isOneOf(`SELECT value FROM ${valuesTable('$2', 'text')}`)}`;
const FIND_SQL: Statement = (sql) => `SELECT ${TOTAL_COLUMNS} ${ofDays(sql)}`;
const DELETE_EMPTY_SQL: Statement = (sql) => `DELETE ${ofDays(sql)} AND count = 0`;

/** Sums by organisation, day, currency and status. */
export class DailySums extends Map<string, DailySum> {
  /** Adds a sale, or subtracts it if the sign is -1. */
  addSale(orgId: number, sale: Sale, sign: 1 | -1 = 1): void {
    const sum = this.#at(orgId, sale.soldAt.slice(0, 10), sale.currencyCode, sale.status);
    sum.count += sign;
    sum.orderValue.add(sign * sale.orderValue);
    sum.cashback.add(sign * sale.cashback);
  }

  addTotal({ orgId, day, currency, status, count, orderValue, cashback }: DailyTotal): void {
    const sum = this.#at(orgId, day, currency, status);
    sum.count += count;
    sum.orderValue.add(orderValue);
    sum.cashback.add(cashback);
  }

  find(key: string): DailyTotal | undefined {
    const sum = this.get(key);
    return sum && { ...sum, orderValue: sum.orderValue.toString(), cashback: sum.cashback.toString() };
  }

  /** Calls store() if there are more than SUMS_MAX sums. */
  async storeIfLarge(connection: Connection): Promise<void> {
    if (this.size > SUMS_MAX) await this.store(connection);
  }

  /** Adds the sums to the stored totals, then clears them. */
  async store(connection: Connection): Promise<void> {
    for (const [orgId, sums] of Map.groupBy(this.values(), (sum) => sum.orgId)) {
      const days = JSON.stringify([...new Set(sums.map(({ day }) => day))]);
      for (const total of await connection.all<DailyTotal>(FIND_SQL, orgId, days)) {
        const { day, currency, status } = total;
        if (this.has(keyOf(orgId, day, currency, status))) this.addTotal(total);
      }
      await connection.putMany(DAILY_TOTALS, sums.map(toRow));
      await connection.all(DELETE_EMPTY_SQL, orgId, days);
    }
    this.clear();
  }

  #at(orgId: number, day: string, currency: string, status: Status): DailySum {
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

export function toRow({ orgId, orderValue, cashback, ...row }: DailySum | DailyTotal) {
  return { ...row, org_id: orgId, order_value: orderValue.toString(), cashback: cashback.toString() };
}
