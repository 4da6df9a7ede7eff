// Totals of transactions by status, age and retailer, from reading every transaction once. The console caches them;
// `offerbook transactions totals` prints them.

import { DecimalSum } from '@offerbook/wire/decimal-sum.ts';
import { type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OrganisationStore } from '../../domain/organisation.ts';
import type { TransactionStore } from '../../domain/transaction.ts';

const DAY_MS = 86_400_000;

/** Bounds of the age groups of pending transactions, in days since the sale. The last group has no upper bound. */
export const AGE_BOUNDS_DAYS = [7, 30, 60, 90] as const;

/** Display order. Not taken from the schema, which this thread need not load. */
export const STATUS_ORDER = ['PENDING', 'CONFIRMED', 'DECLINED'] as const satisfies readonly Status[];

export interface Sums {
  count: number;
  readonly orderValue: DecimalSum;
  readonly cashback: DecimalSum;
}

/** One organisation, currency, month of the sale (UTC) and status. */
interface MonthKey {
  readonly org: string;
  readonly currency: string;
  /** `2026-11` */
  readonly month: string;
  readonly status: Status;
}

/** One organisation, currency and age group. */
interface AgeKey {
  readonly org: string;
  readonly currency: string;
  /** Index of the age group: see AGE_BOUNDS_DAYS. */
  readonly age: number;
}

export type MonthTotal = MonthKey & Readonly<Sums>;
export type AgeTotal = AgeKey & Readonly<Sums>;

/** Transactions of one organisation for deals of one retailer. */
export interface RetailerTotal {
  readonly org: string;
  /** The retailer that has the deal now, or why there is none. */
  readonly retailer: Uuid | 'no deal named' | 'deal no longer in the catalogue';
  readonly counts: Readonly<Record<Status, number>>;
}

export interface TransactionTotals {
  readonly months: readonly MonthTotal[];
  readonly ages: readonly AgeTotal[];
  readonly retailers: readonly RetailerTotal[];
  readonly count: number;
}

interface Sources {
  readonly organisations: Pick<OrganisationStore, 'list'>;
  readonly transactions: Pick<TransactionStore, 'read'>;
}

/** Retailer of each deal. Totals are by retailer, because there may be as many deals as transactions. */
type RetailerOfDeal = ReadonlyMap<Uuid, Uuid>;

/** Called after each batch with the count so far; may delay the next batch. */
type OnBatch = (count: number) => Promise<void>;

/** Counts all transactions. Each organisation is read in one snapshot. */
export async function countTransactions(
  { organisations, transactions }: Sources,
  retailerOfDeal: RetailerOfDeal,
  clock: Clock,
  onBatch: OnBatch = async () => {},
): Promise<TransactionTotals> {
  const nowMs = clock();
  const months = new Map<string, Sums & MonthKey>();
  const ages = new Map<string, Sums & AgeKey>();
  const retailers: RetailerTotal[] = [];
  let count = 0;
  for (const { id, name: org } of await organisations.list()) {
    const byRetailer = new Map<RetailerTotal['retailer'], Record<Status, number>>();
    await transactions.read(id, async (batch) => {
      for (const { document } of batch) {
        const sale = JSON.parse(document) as Transaction;
        const { status, currencyCode: currency } = sale;
        const month = sale.soldAt.slice(0, 7);
        addTo(months, `${org}\n${currency}\n${month}\n${status}`, { org, currency, month, status }, sale);
        if (status === 'PENDING') {
          const age = ageOf(sale.soldAt, nowMs);
          addTo(ages, `${org}\n${currency}\n${age}`, { org, currency, age }, sale);
        }
        const dealId = sale.cashbackOfferId ?? sale.couponId ?? sale.promotionId;
        const retailer =
          dealId === null
            ? 'no deal named'
            : (retailerOfDeal.get(dealId) ?? 'deal no longer in the catalogue');
        const known = byRetailer.get(retailer);
        if (known !== undefined) known[status] += 1;
        else byRetailer.set(retailer, { PENDING: 0, CONFIRMED: 0, DECLINED: 0, [status]: 1 });
      }
      count += batch.length;
      await onBatch(count);
    });
    for (const [retailer, counts] of byRetailer) retailers.push({ org, retailer, counts });
  }
  return { months: inOrder(months), ages: inOrder(ages), retailers, count };
}

function addTo<Key extends object>(
  groups: Map<string, Sums & Key>,
  name: string,
  key: Key,
  { orderValue, cashback }: Transaction,
): void {
  let sums = groups.get(name);
  if (sums === undefined) {
    sums = { ...key, count: 0, orderValue: new DecimalSum(), cashback: new DecimalSum() };
    groups.set(name, sums);
  }
  sums.count += 1;
  sums.orderValue.add(orderValue);
  sums.cashback.add(cashback);
}

function inOrder<Group>(groups: ReadonlyMap<string, Group>): Group[] {
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function ageOf(soldAt: Timestamp, nowMs: number): number {
  const days = (nowMs - timestampMs(soldAt)) / DAY_MS;
  const age = AGE_BOUNDS_DAYS.findIndex((bound) => days < bound);
  return age < 0 ? AGE_BOUNDS_DAYS.length : age;
}

/** Adds up several groups. */
export function sumOf(groups: readonly Readonly<Sums>[]): Sums {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    orderValue: DecimalSum.of(groups.map(({ orderValue }) => orderValue)),
    cashback: DecimalSum.of(groups.map(({ cashback }) => cashback)),
  };
}
