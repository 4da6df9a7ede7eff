// Transaction totals: by month or day, by age and by organisation.

import type { Cell } from '../data-table.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  amount,
  choice,
  type Money,
  number,
  type OrganisationOption,
  organisationChoice,
  plot,
  section,
  shareBar,
  source,
  table,
} from './elements.ts';

const COMMAND = 'offerbook transactions totals --json';
const BY = [
  ['month', 'by month'],
  ['day', 'by day, last 90 days'],
] as const;

export interface TotalsView {
  readonly organisations: readonly OrganisationOption[];
  /** The organisation that the page is about; undefined for all. */
  readonly org: OrganisationOption | undefined;
  /** Length of the plotted periods. With `day`, only the last 90 days are plotted. */
  readonly by: 'month' | 'day';
  /** Total number of transactions. */
  readonly count: number;
  readonly currencies: readonly CurrencyPeriods[];
  readonly ages: readonly AgeGroup[];
  readonly months: readonly MonthTotal[];
}

interface CurrencyPeriods {
  readonly currency: string;
  /** Oldest period first. */
  readonly periods: readonly {
    /** `2026-11` or `2026-11-14` */
    readonly period: string;
    readonly pending: Money;
    readonly confirmed: Money;
    readonly declined: Money;
  }[];
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

interface MonthTotal {
  readonly org: string;
  readonly currency: string;
  /** `2026-11` */
  readonly period: string;
  readonly status: string;
  readonly count: number;
  readonly orderValue: Money;
  readonly cashback: Money;
}

export function totalsPage(view: TotalsView): ConsolePage {
  const { organisations, org, by, count, currencies, ages, months } = view;
  return {
    title: 'Totals',
    main: html`<form class="filter" method="get" action="/totals">
${organisationChoice(organisations, org)}
${choice('Plot', 'by', BY, by)}
<button type="submit">Show</button></form>
<p class="muted">${number(count)} transactions.</p>
${currencies.map((currency) => currencySection(currency, by))}
${section('Pending transactions by age', ageTable(ages), source(COMMAND))}
${section('By organisation, currency and month', monthTable(months), source(COMMAND))}`,
  };
}

function currencySection({ currency, periods }: CurrencyPeriods, by: TotalsView['by']): Html {
  return section(
    `Cashback in ${currency}`,
    plot(
      'bars',
      `Cashback in ${currency} by ${by} of the sale`,
      by === 'day' ? 'Day (UTC)' : 'Month',
      [
        ['Pending', 'amber'],
        ['Confirmed', 'green'],
        ['Declined', 'red'],
      ],
      periods.map(({ period, pending, confirmed, declined }) => [
        html`<time datetime="${period}">${period}</time>`,
        amount(pending),
        amount(confirmed),
        amount(declined),
      ]),
    ),
    source(COMMAND),
  );
}

function ageTable(ages: readonly AgeGroup[]): Html {
  return table(
    'Pending transactions by age',
    ['Currency and age', 'Transactions', 'Share', 'Cashback'],
    ages.map((group): Cell[] => [
      `${group.currency}, ${ageWords(group)}`,
      number(group.count),
      shareBar(group.count, group.allCount),
      amount(group.cashback),
    ]),
    'No pending transactions.',
  );
}

function ageWords({ fromDays, untilDays }: AgeGroup): string {
  if (untilDays === undefined) return `${fromDays} days or more`;
  return fromDays === undefined ? `less than ${untilDays} days` : `${fromDays} to ${untilDays} days`;
}

function monthTable(months: readonly MonthTotal[]): Html {
  return table(
    'Totals by organisation, currency and month',
    ['Organisation', 'Currency', 'Month', 'Status', 'Transactions', 'Order value', 'Cashback'],
    months.map(({ org, currency, period, status, count, orderValue, cashback }) => [
      html`<bdi>${org}</bdi>`,
      currency,
      period,
      status,
      number(count),
      amount(orderValue),
      amount(cashback),
    ]),
    'No transactions.',
  );
}
