// Transaction totals over time: by organisation, currency and status, and pending transactions by age. Also as a CSV file.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { printMoney } from '@offerbook/wire/decimal.ts';
import { STATUSES, type Status } from '@offerbook/wire/transaction.ts';
import type { Organisation } from '../../domain/organisation.ts';
import {
  AGE_BOUNDS_DAYS,
  type AgeTotal,
  type PeriodTotal,
  readTransactionTotals,
  sumOf,
} from '../counts/transaction-totals.ts';
import { findOrganisation, type MakePage, type PageContext } from '../page-context.ts';
import { statusTag } from './transactions.ts';

const COMMAND = 'offerbook transactions totals --json';
/** Maximum number of rows in the table by period. The CSV file contains all rows. */
const ROWS_MAX = 100;
const BY = [
  ['month', 'by month'],
  ['day', 'by day, last 90 days'],
] as const;
const STATUS_LABELS: Record<Status, readonly [label: string, colour: ui.Colour]> = {
  PENDING: ['Pending', 'amber'],
  CONFIRMED: ['Confirmed', 'green'],
  DECLINED: ['Declined', 'red'],
};

/** An undefined field selects everything. With `day`, only the last 90 days are shown. */
interface Filter {
  readonly org: Organisation | undefined;
  readonly currency: string | undefined;
  readonly status: Status | undefined;
  readonly by: 'month' | 'day';
}

export const totalsPage: MakePage = async (context) => {
  const { organisations, currencies, filter, totals, ages } = await readFiltered(context);
  const newestFirst = totals.toSorted((a, b) => compare(b.period, a.period));
  return {
    title: 'Totals',
    main: html`<form class="filter row" method="get" action="/totals">
${ui.organisationChoice(organisations, filter.org)}
${ui.choiceOrAll('Currency', 'currency', currencies, filter.currency)}
${ui.choiceOrAll('Status', 'status', STATUSES, filter.status)}
${ui.choice('Period', 'by', BY, filter.by)}
<button type="submit">Show</button></form>
${summary(filter, totals)}
${overTime(filter, totals)}
${ui.section('By organisation and currency', groupTable(organisations, filter, totals), ui.source(COMMAND))}
${ui.section('Pending transactions by age', ageTable(ages), ui.source(COMMAND))}
${ui.section(
  `By ${filter.by}`,
  periodTable(newestFirst.slice(0, ROWS_MAX), filter.by),
  ui.shownOf('newest', ROWS_MAX, totals.length),
  html`<p><a class="button" href="${path('/totals.csv', filter)}">Download all as CSV</a></p>`,
  ui.source(COMMAND),
)}`,
  };
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
  const filter: Filter = {
    org: findOrganisation(organisations, query.get('org')),
    currency: currencies.find((one) => one === query.get('currency')),
    status: STATUSES.find((one) => one === query.get('status')),
    by: query.get('by') === 'day' ? 'day' : 'month',
  };
  const isShown = ({ org, currency }: { readonly org: string; readonly currency: string }) =>
    (filter.org === undefined || org === filter.org.name) &&
    (filter.currency === undefined || currency === filter.currency);
  const totals = (filter.by === 'day' ? days : months).filter(
    (total) => isShown(total) && (filter.status === undefined || total.status === filter.status),
  );
  return { organisations, currencies, filter, totals, ages: ages.filter(isShown) };
}

/** URL of a page with this filter. */
function path(page: '/totals' | '/totals.csv', { org, currency, status, by }: Filter): string {
  const query = new URLSearchParams();
  if (org !== undefined) query.set('org', org.publicId);
  if (currency !== undefined) query.set('currency', currency);
  if (status !== undefined) query.set('status', status);
  if (by === 'day') query.set('by', by);
  return query.size === 0 ? page : `${page}?${query}`;
}

function sumOfStatus(totals: readonly PeriodTotal[], status: Status) {
  return sumOf(totals.filter((total) => total.status === status));
}

/** Amounts of different currencies are not added. */
function summary(filter: Filter, totals: readonly PeriodTotal[]): Html {
  const { currency } = filter;
  const byStatus = STATUSES.map((status) => {
    const { count, cashback } = sumOfStatus(totals, status);
    return [
      STATUS_LABELS[status][0],
      html`${ui.linked(path('/totals', { ...filter, status }), ui.number(count))}${currency === undefined ? undefined : html` <span class="muted">${ui.amount(cashback, currency)}</span>`}`,
    ];
  });
  const all = filter.by === 'day' ? 'Transactions, last 90 days' : 'Transactions';
  return ui.facts({ [all]: ui.number(sumOf(totals).count), ...Object.fromEntries(byStatus) }, 'tiles');
}

/** Plots the cashback of one currency, or the number of transactions in all currencies. */
function overTime({ currency, status: only, by }: Filter, totals: readonly PeriodTotal[]): Html {
  type Period = readonly [period: string, totals: readonly PeriodTotal[]];
  const value =
    (status: Status) =>
    ([, ofPeriod]: Period) => {
      const { count, cashback } = sumOfStatus(ofPeriod, status);
      return currency === undefined ? ui.number(count) : ui.amount(cashback, currency);
    };
  const what = currency === undefined ? 'Transactions' : `Cashback in ${currency}`;
  return ui.untitled(
    ui.plot<Period>(
      'bars',
      `${what} by ${by} of the sale`,
      [...Map.groupBy(totals, ({ period }) => period)].toSorted(([a], [b]) => compare(a, b)),
      {
        [by === 'day' ? 'Day (UTC)' : 'Month']: ([period]) =>
          html`<time datetime="${period}">${period}</time>`,
      },
      Object.fromEntries(
        STATUSES.filter((status) => only === undefined || status === only).map((status) => {
          const [label, colour] = STATUS_LABELS[status];
          return [label, [colour, value(status)] as const];
        }),
      ),
    ),
    ui.source(COMMAND),
  );
}

function groupTable(
  organisations: readonly Organisation[],
  filter: Filter,
  totals: readonly PeriodTotal[],
): Html {
  const groups = Map.groupBy(totals, ({ org, currency }) => `${org}\n${currency}`).values();
  const rows = [...groups].flatMap((group) => {
    const org = organisations.find(({ name }) => name === group[0]?.org);
    return org === undefined ? [] : { org, currency: group[0]?.currency ?? '', group };
  });
  return ui.table(
    'Totals by organisation and currency',
    rows,
    {
      Organisation: ({ org }) => ui.linked(path('/totals', { ...filter, org }), html`<bdi>${org.name}</bdi>`),
      Currency: ({ currency }) => ui.linked(path('/totals', { ...filter, currency }), currency),
      Transactions: ({ org, currency, group }) =>
        ui.linked(path('/totals', { ...filter, org, currency }), ui.number(sumOf(group).count)),
      ...Object.fromEntries(
        STATUSES.map((status) => [
          `${STATUS_LABELS[status][0]} cashback`,
          ({ currency, group }: (typeof rows)[number]) =>
            ui.amount(sumOfStatus(group, status).cashback, currency),
        ]),
      ),
    },
    'No transactions.',
  );
}

function ageTable(ages: readonly AgeTotal[]): Html {
  const currencies = [...Map.groupBy(ages, ({ currency }) => currency)].toSorted(([a], [b]) => compare(a, b));
  const rows = currencies.flatMap(([currency, ofCurrency]) =>
    [...Map.groupBy(ofCurrency, ({ age }) => age)]
      .toSorted(([a], [b]) => a - b)
      .map(([age, group]) => ({ currency, age, ...sumOf(group), allCount: sumOf(ofCurrency).count })),
  );
  return ui.table(
    'Pending transactions by age',
    rows.filter(({ count }) => count > 0),
    {
      'Currency and age': ({ currency, age }) => `${currency}, ${ageWords(age)}`,
      Transactions: ({ count }) => ui.number(count),
      Share: ({ count, allCount }) => ui.shareBar(count, allCount),
      Cashback: ({ cashback, currency }) => ui.amount(cashback, currency),
    },
    'No pending transactions.',
  );
}

function ageWords(age: number): string {
  const [from, until] = [AGE_BOUNDS_DAYS[age - 1], AGE_BOUNDS_DAYS[age]];
  if (until === undefined) return `${from} days or more`;
  return from === undefined ? `less than ${until} days` : `${from} to ${until} days`;
}

function periodTable(rows: readonly PeriodTotal[], by: Filter['by']): Html {
  return ui.table(
    `Totals by organisation, currency and ${by}`,
    rows,
    {
      [by === 'day' ? 'Day' : 'Month']: ({ period }) => period,
      Organisation: ({ org }) => html`<bdi>${org}</bdi>`,
      Status: ({ status }) => statusTag(status),
      Transactions: ({ count }) => ui.number(count),
      'Order value': ({ orderValue, currency }) => ui.amount(orderValue, currency),
      Cashback: ({ cashback, currency }) => ui.amount(cashback, currency),
    },
    'No transactions.',
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * Quotes a cell that contains a comma, a quotation mark or a space. Spreadsheets run a text that begins like a formula, so it
 * gets an apostrophe in front.
 */
function csvCell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[\s",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
