// Transaction totals over time: by organisation, currency and status, and pending transactions by age.

import type { Status } from '@offerbook/wire/transaction.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  amount,
  type Colour,
  choice,
  facts,
  linked,
  type Money,
  number,
  type OrganisationOption,
  organisationChoice,
  plot,
  section,
  shareBar,
  shownOf,
  source,
  table,
  untitled,
} from './elements.ts';
import { statusTag } from './transactions-page.ts';

const COMMAND = 'offerbook transactions totals --json';
const BY = [
  ['month', 'by month'],
  ['day', 'by day, last 90 days'],
] as const;
const STATUS_LABELS: Record<Status, readonly [label: string, colour: Colour]> = {
  PENDING: ['Pending', 'amber'],
  CONFIRMED: ['Confirmed', 'green'],
  DECLINED: ['Declined', 'red'],
};

export interface TotalsView {
  readonly organisations: readonly OrganisationOption[];
  readonly currencies: readonly string[];
  readonly statuses: readonly Status[];
  readonly filter: TotalsFilter;
  readonly all: StatusSums;
  /** Oldest period first. `period` is `2026-11` or `2026-11-14`. */
  readonly periods: readonly PeriodSums[];
  readonly groups: readonly GroupSums[];
  readonly ages: readonly AgeGroup[];
  /** Newest period first; `rowCount` counts all. */
  readonly rows: readonly PeriodRow[];
  readonly rowCount: number;
}

/** An undefined field selects everything. With `day`, only the last 90 days are shown. */
interface TotalsFilter {
  readonly org: OrganisationOption | undefined;
  readonly currency: string | undefined;
  readonly status: Status | undefined;
  readonly by: 'month' | 'day';
}

interface Sums {
  readonly count: number;
  readonly orderValue: Money;
  readonly cashback: Money;
}

export type StatusSums = Readonly<Record<Status, Sums>>;

interface PeriodSums {
  readonly period: string;
  readonly sums: StatusSums;
}

interface GroupSums {
  readonly org: string;
  readonly currency: string;
  readonly sums: StatusSums;
}

/** Pending transactions in one currency whose sales fall in one age range. */
export interface AgeGroup {
  readonly currency: string;
  /** Days since the sale: at least `fromDays`, less than `untilDays`. */
  readonly fromDays: number | undefined;
  readonly untilDays: number | undefined;
  readonly count: number;
  /** Number of all pending transactions in this currency. */
  readonly allCount: number;
  readonly cashback: Money;
}

interface PeriodRow extends Sums {
  readonly org: string;
  readonly currency: string;
  readonly period: string;
  readonly status: Status;
}

export function totalsPage(view: TotalsView): ConsolePage {
  const { filter, ages, rows, rowCount } = view;
  return {
    title: 'Totals',
    main: html`${filterForm(view)}
${summary(view)}
${overTime(view)}
${section('By organisation and currency', groupTable(view), source(COMMAND))}
${section('Pending transactions by age', ageTable(ages), source(COMMAND))}
${section(
  `By ${filter.by}`,
  periodTable(rows, filter.by),
  shownOf('newest', rows.length, rowCount),
  html`<p><a class="button" href="${path('/totals.csv', filter)}">Download all as CSV</a></p>`,
  source(COMMAND),
)}`,
  };
}

/** URL of a page with this filter. */
function path(page: '/totals' | '/totals.csv', { org, currency, status, by }: TotalsFilter): string {
  const query = new URLSearchParams();
  if (org !== undefined) query.set('org', org.publicId);
  if (currency !== undefined) query.set('currency', currency);
  if (status !== undefined) query.set('status', status);
  if (by === 'day') query.set('by', by);
  return query.size === 0 ? page : `${page}?${query}`;
}

function filterForm({ organisations, currencies, statuses, filter }: TotalsView): Html {
  const options = (values: readonly string[]) => [
    ['', 'All'] as const,
    ...values.map((value) => [value, value] as const),
  ];
  return html`<form class="filter row" method="get" action="/totals">
${organisationChoice(organisations, filter.org)}
${choice('Currency', 'currency', options(currencies), filter.currency ?? '')}
${choice('Status', 'status', options(statuses), filter.status ?? '')}
${choice('Period', 'by', BY, filter.by)}
<button type="submit">Show</button></form>`;
}

/** Amounts of different currencies are not added. */
function summary({ statuses, filter, all }: TotalsView): Html {
  const count = statuses.reduce((sum, status) => sum + all[status].count, 0);
  return facts(
    [
      [filter.by === 'day' ? 'Transactions, last 90 days' : 'Transactions', number(count)],
      ...statuses.map((status) => {
        const [label] = STATUS_LABELS[status];
        const { currency } = filter;
        const { count: transactions, cashback } = all[status];
        return [
          label,
          html`${linked(path('/totals', { ...filter, status }), number(transactions))}${currency === undefined ? undefined : html` <span class="muted">${amount(cashback, currency)}</span>`}`,
        ] as const;
      }),
    ],
    'tiles',
  );
}

/** Plots the cashback of one currency, or the number of transactions in all currencies. */
function overTime({ statuses, filter, periods }: TotalsView): Html {
  const { currency, by } = filter;
  const shown = filter.status === undefined ? statuses : [filter.status];
  const value =
    (status: Status) =>
    ({ sums }: PeriodSums) =>
      currency === undefined ? number(sums[status].count) : amount(sums[status].cashback, currency);
  const what = currency === undefined ? 'Transactions' : `Cashback in ${currency}`;
  return untitled(
    plot(
      'bars',
      `${what} by ${by} of the sale`,
      periods,
      {
        [by === 'day' ? 'Day (UTC)' : 'Month']: ({ period }) =>
          html`<time datetime="${period}">${period}</time>`,
      },
      Object.fromEntries(
        shown.map((status) => {
          const [label, colour] = STATUS_LABELS[status];
          return [label, [colour, value(status)] as const];
        }),
      ),
    ),
    source(COMMAND),
  );
}

function groupTable({ organisations, statuses, filter, groups }: TotalsView): Html {
  const optionFor = (org: string) => organisations.find(({ name }) => name === org);
  const cashback =
    (status: Status) =>
    ({ sums, currency }: GroupSums) =>
      amount(sums[status].cashback, currency);
  return table(
    'Totals by organisation and currency',
    groups,
    {
      Organisation: ({ org }) =>
        linked(path('/totals', { ...filter, org: optionFor(org) }), html`<bdi>${org}</bdi>`),
      Currency: ({ currency }) => linked(path('/totals', { ...filter, currency }), currency),
      Transactions: ({ org, currency, sums }) =>
        linked(
          path('/totals', { ...filter, org: optionFor(org), currency }),
          number(statuses.reduce((sum, status) => sum + sums[status].count, 0)),
        ),
      ...Object.fromEntries(
        statuses.map((status) => [`${STATUS_LABELS[status][0]} cashback`, cashback(status)]),
      ),
    },
    'No transactions.',
  );
}

function ageTable(ages: readonly AgeGroup[]): Html {
  return table(
    'Pending transactions by age',
    ages.filter(({ count }) => count > 0),
    {
      'Currency and age': (group) => `${group.currency}, ${ageWords(group)}`,
      Transactions: ({ count }) => number(count),
      Share: ({ count, allCount }) => shareBar(count, allCount),
      Cashback: ({ cashback, currency }) => amount(cashback, currency),
    },
    'No pending transactions.',
  );
}

function ageWords({ fromDays, untilDays }: AgeGroup): string {
  if (untilDays === undefined) return `${fromDays} days or more`;
  return fromDays === undefined ? `less than ${untilDays} days` : `${fromDays} to ${untilDays} days`;
}

function periodTable(rows: readonly PeriodRow[], by: 'month' | 'day'): Html {
  return table(
    `Totals by organisation, currency and ${by}`,
    rows,
    {
      [by === 'day' ? 'Day' : 'Month']: ({ period }) => period,
      Organisation: ({ org }) => html`<bdi>${org}</bdi>`,
      Status: ({ status }) => statusTag(status),
      Transactions: ({ count }) => number(count),
      'Order value': ({ orderValue, currency }) => amount(orderValue, currency),
      Cashback: ({ cashback, currency }) => amount(cashback, currency),
    },
    'No transactions.',
  );
}
