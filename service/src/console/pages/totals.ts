// Reads the data for the console's totals page and its CSV file.

import { type AgeGroup, totalsPage as render, type StatusSums } from '@offerbook/site/console/totals-page.ts';
import { printMoney } from '@offerbook/wire/decimal.ts';
import { STATUSES } from '@offerbook/wire/transaction.ts';
import {
  AGE_BOUNDS_DAYS,
  type AgeTotal,
  type PeriodTotal,
  readTransactionTotals,
  sumOf,
} from '../counts/transaction-totals.ts';
import { findOrganisation, type MakePage, type PageContext } from '../page-context.ts';

/** Maximum number of rows in the table by period. The CSV file contains all rows. */
const ROWS_MAX = 100;

export const totalsPage: MakePage = async (context) => {
  const { organisations, currencies, filter, totals, ages } = await readFiltered(context);
  const newestFirst = totals.toSorted((a, b) => (a.period > b.period ? -1 : a.period < b.period ? 1 : 0));
  return render({
    organisations,
    currencies,
    statuses: STATUSES,
    filter,
    all: sumsByStatus(totals),
    periods: [...Map.groupBy(totals, ({ period }) => period)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([period, ofPeriod]) => ({ period, sums: sumsByStatus(ofPeriod) })),
    groups: [...Map.groupBy(totals, ({ org, currency }) => `${org}\n${currency}`).values()].flatMap(
      (group) => {
        const [first] = group;
        return first === undefined
          ? []
          : { org: first.org, currency: first.currency, sums: sumsByStatus(group) };
      },
    ),
    ages: [...Map.groupBy(ages, ({ currency }) => currency)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([currency, ofCurrency]) => ageGroups(currency, ofCurrency)),
    rows: newestFirst.slice(0, ROWS_MAX),
    rowCount: newestFirst.length,
  });
};

/** The totals of the page with the same query, one line for each organisation, currency, period and status. */
export const totalsFile: MakePage = async (context) => {
  const { filter, totals } = await readFiltered(context);
  const lines = totals.map(({ org, currency, period, status, count, orderValue, cashback }) =>
    [org, currency, period, status, count, printMoney(orderValue), printMoney(cashback)].map(csvCell).join(),
  );
  const header = `organisation,currency,${filter.by},status,transactions,orderValue,cashback`;
  return {
    status: 200,
    headers: new Headers({
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': 'attachment; filename="offerbook-totals.csv"',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    }),
    body: [header, ...lines].map((line) => `${line}\r\n`).join(''),
  };
};

async function readFiltered({ node, stores: openStores, query }: PageContext) {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const { months, days, ages } = await readTransactionTotals(stores, node.nowMs);
  const currencies = [...new Set(months.map(({ currency }) => currency))].toSorted();
  const filter = {
    org: findOrganisation(organisations, query.get('org')),
    currency: currencies.find((one) => one === query.get('currency')),
    status: STATUSES.find((one) => one === query.get('status')),
    by: query.get('by') === 'day' ? ('day' as const) : ('month' as const),
  };
  const isShown = ({ org, currency }: { readonly org: string; readonly currency: string }) =>
    (filter.org === undefined || org === filter.org.name) &&
    (filter.currency === undefined || currency === filter.currency);
  const totals = (filter.by === 'day' ? days : months).filter(
    (total) => isShown(total) && (filter.status === undefined || total.status === filter.status),
  );
  return { organisations, currencies, filter, totals, ages: ages.filter(isShown) };
}

function sumsByStatus(totals: readonly PeriodTotal[]): StatusSums {
  const of = (status: PeriodTotal['status']) => sumOf(totals.filter((one) => one.status === status));
  return { PENDING: of('PENDING'), CONFIRMED: of('CONFIRMED'), DECLINED: of('DECLINED') };
}

function ageGroups(currency: string, totals: readonly AgeTotal[]): AgeGroup[] {
  const allCount = sumOf(totals).count;
  return [...AGE_BOUNDS_DAYS, undefined].map((untilDays, age) => {
    const { count, cashback } = sumOf(totals.filter((one) => one.age === age));
    return { currency, fromDays: AGE_BOUNDS_DAYS[age - 1], untilDays, count, allCount, cashback };
  });
}

/**
 * Quotes a cell that contains a comma, a quotation mark or a space. Spreadsheets run a text that begins like a formula, so it gets an
 * apostrophe in front.
 */
function csvCell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[\s",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
