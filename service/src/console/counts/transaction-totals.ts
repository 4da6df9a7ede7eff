// Groups the daily totals by month, by recent day and by age, for the console and for `offerbook transactions totals`.

import { DecimalSum } from '@offerbook/wire/amount.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { Stores } from '../../domain/stores.ts';
import type { DailyTotal } from '../../domain/transaction.ts';

const RECENT_DAYS = 90;

/**
 * Upper bounds of the age groups for pending transactions, in days since the day of sale. The last group has no upper bound.
 */
export const AGE_BOUNDS_DAYS = [7, 30, 60, 90] as const;

export interface Sums {
  count: number;
  readonly orderValue: DecimalSum;
  readonly cashback: DecimalSum;
}

/** Total for one organisation, currency, month or day of sale (UTC), and status. */
export interface PeriodTotal extends Sums {
  readonly org: string;
  readonly currency: string;
  /** `2026-11` or `2026-11-14` */
  readonly period: string;
  readonly status: Status;
}

/** Total of pending transactions for one organisation, currency and age group. */
export interface AgeTotal extends Sums {
  readonly org: string;
  readonly currency: string;
  /** Index of the age group; see AGE_BOUNDS_DAYS. */
  readonly age: number;
}

export async function readTransactionTotals(
  { organisations, totals }: Pick<Stores, 'organisations' | 'totals'>,
  nowMs: number,
) {
  const names = new Map((await organisations.list()).map(({ id, name }) => [id, name]));
  const today = Math.floor(nowMs / DAY_MS);
  const months = new Map<string, PeriodTotal>();
  /** The last 90 days, including today. */
  const days = new Map<string, PeriodTotal>();
  const ages = new Map<string, AgeTotal>();
  await totals.read((batch) => {
    for (const total of batch) {
      const { orgId, currency, status, day } = total;
      const org = names.get(orgId);
      // Undefined if the organisation is being deleted.
      if (org === undefined) continue;
      const ageDays = today - Date.parse(day) / DAY_MS;
      addTo(months, { org, currency, period: day.slice(0, 7), status }, total);
      if (ageDays < RECENT_DAYS) addTo(days, { org, currency, period: day, status }, total);
      if (status === 'PENDING') addTo(ages, { org, currency, age: ageGroup(ageDays) }, total);
    }
  });
  return { months: inOrder(months), days: inOrder(days), ages: inOrder(ages) };
}

function addTo<Key extends object>(
  groups: Map<string, Key & Sums>,
  key: Key,
  { count, orderValue, cashback }: DailyTotal,
): void {
  const name = Object.values(key).join('\n');
  let sums = groups.get(name);
  if (sums === undefined) {
    sums = { ...key, count: 0, orderValue: new DecimalSum(), cashback: new DecimalSum() };
    groups.set(name, sums);
  }
  sums.count += count;
  sums.orderValue.add(orderValue);
  sums.cashback.add(cashback);
}

function inOrder<Group>(groups: ReadonlyMap<string, Group>): Group[] {
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function ageGroup(days: number): number {
  const age = AGE_BOUNDS_DAYS.findIndex((bound) => days < bound);
  return age < 0 ? AGE_BOUNDS_DAYS.length : age;
}

export function sumOf(groups: readonly Sums[]): Sums {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    orderValue: DecimalSum.of(groups.map(({ orderValue }) => orderValue)),
    cashback: DecimalSum.of(groups.map(({ cashback }) => cashback)),
  };
}
