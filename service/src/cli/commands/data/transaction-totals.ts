// offerbook transactions totals: prints, verifies and rebuilds the daily totals, or counts transactions by retailer.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { printMoney, rawJson } from '@offerbook/wire/decimal.ts';
import { FaultFound } from '@offerbook/wire/failures.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import { type Command, Option } from 'commander';
import { CatalogueReader } from '../../../console/counts/catalogue-contents.ts';
import { AGE_BOUNDS_DAYS, readTransactionTotals, sumOf } from '../../../console/counts/transaction-totals.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { DailyTotal } from '../../../domain/transaction.ts';
import { jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
import { printResult, table } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function transactionTotalsCommand(): Command {
  return jsonCommand(
    'totals',
    'show the totals by organisation, currency, month of sale and status',
    'offerbook transactions totals --json',
  )
    .option('--by-retailer', 'count by retailer and status instead; scans all transactions')
    .addOption(
      new Option(
        '--verify',
        'compare the stored totals with a count of all transactions; exits 1 if they differ',
      ).conflicts('byRetailer'),
    )
    .addOption(
      new Option('--rebuild', 'count all transactions and replace the stored totals; imports wait').conflicts(
        ['byRetailer', 'verify'],
      ),
    )
    .action((options: StoreOptions & { byRetailer?: boolean; verify?: boolean; rebuild?: boolean }) => {
      if (options.rebuild === true) return rebuildTotals(options);
      if (options.verify === true) return verifyTotals(options);
      return options.byRetailer === true ? showRetailers(options) : showTotals(options);
    });
}

async function showTotals(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const { months, ages } = await readTransactionTotals(stores, systemClock());
  const rows = months.map(({ org, currency, period, status, count, orderValue, cashback }) => ({
    ...{ ORG: org, CURRENCY: currency, MONTH: period, STATUS: status, COUNT: printCount(count) },
    ...{ ORDERS: printMoney(orderValue), CASHBACK: printMoney(cashback) },
  }));
  const json = {
    count: sumOf(months).count,
    months: months.map(({ org, currency, period: month, ...total }) => ({ org, currency, month, ...total })),
    // `fromDays` is the age group's lower bound.
    pendingByAge: ages.map(({ age, ...total }) => ({ fromDays: AGE_BOUNDS_DAYS[age - 1] ?? 0, ...total })),
  };
  await printResult(options, json, table(rows, 'No transactions.'));
}

async function verifyTotals(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const [differences, transactions] = await counting((onRows) => stores.totals.verify(onRows));
  const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
  const found = differences.flatMap(({ stored, counted }) => {
    const total = stored ?? counted;
    if (total === undefined) return [];
    const { orgId, day, currency, status } = total;
    return { org: names.get(orgId) ?? `organisation ${orgId}`, day, currency, status, stored, counted };
  });
  const json = found.map((each) => ({ ...each, stored: toJson(each.stored), counted: toJson(each.counted) }));
  const rows = found.map(({ org, day, currency, status, stored, counted }) => ({
    ...{ ORG: org, DAY: day, CURRENCY: currency, STATUS: status },
    ...{ STORED: describe(stored), COUNTED: describe(counted) },
  }));
  const text =
    rows.length === 0
      ? `The stored totals equal a count of all ${printCountOf(transactions, 'transaction')}.`
      : `${table(rows)}\n\nRepair them with: offerbook transactions totals --rebuild`;
  await printResult(options, { transactions, differences: json }, text);
  if (rows.length > 0) throw new FaultFound('the totals differ');
}

/** Shows progress. Returns the result and the last count. */
async function counting<T>(work: (onRows: (count: number) => void) => Promise<T>): Promise<[T, number]> {
  let last = 0;
  const result = await withProgressBar((show) =>
    work((count) => {
      last = count;
      show(count);
    }),
  );
  return [result, last];
}

/** Formats the count, order value and cashback. */
function describe(total: DailyTotal | undefined): string {
  return total === undefined ? 'none' : `${printCount(total.count)}, ${total.orderValue}, ${total.cashback}`;
}

function toJson(total: DailyTotal | undefined) {
  if (total === undefined) return null;
  const { count, orderValue, cashback } = total;
  return { count, orderValue: rawJson(orderValue), cashback: rawJson(cashback) };
}

async function rebuildTotals(options: StoreOptions): Promise<void> {
  await using stores = await openForWriting(options);
  const [, transactions] = await counting((onRows) => stores.totals.rebuild(onRows));
  const words = `Rebuilt the totals from ${printCountOf(transactions, 'transaction')}.`;
  await printResult(options, { transactions }, words);
}

/** Counts all transactions by retailer. Reads each organisation's transactions in one snapshot. */
async function showRetailers(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const catalogue = await new CatalogueReader().read(stores);
  const names: ReadonlyMap<string, string> = catalogue.retailers;
  const retailers: { org: string; retailer: string; counts: Record<Status, number> }[] = [];
  let read = 0;
  await withProgressBar(async (show) => {
    for (const { id, name: org } of await stores.organisations.list()) {
      const found = new Map<string, Record<Status, number>>();
      await stores.transactions.read(id, async (batch) => {
        for (const { document } of batch) {
          const { status, ...sale } = JSON.parse(document) as Transaction;
          const dealId = sale.cashbackOfferId ?? sale.couponId ?? sale.promotionId;
          const retailer =
            dealId === null
              ? 'no deal named'
              : (catalogue.retailerOfDeal.get(dealId) ?? 'deal no longer in the catalogue');
          const counts = found.get(retailer) ?? { PENDING: 0, CONFIRMED: 0, DECLINED: 0 };
          counts[status] += 1;
          found.set(retailer, counts);
        }
        read += batch.length;
        show(read);
      });
      for (const [retailer, counts] of found) retailers.push({ org, retailer, counts });
    }
  });
  const rows = retailers.map(({ org, retailer, counts }) => ({
    ...{ ORG: org, RETAILER: names.get(retailer) ?? retailer, PENDING: printCount(counts.PENDING) },
    ...{ CONFIRMED: printCount(counts.CONFIRMED), DECLINED: printCount(counts.DECLINED) },
  }));
  await printResult(options, { count: read, retailers }, table(rows, 'No transactions.'));
}
