// Totals of transactions: by month, by age, by retailer and by organisation.

import { printCount } from '@offerbook/wire/count.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  amount,
  bar,
  type Cell,
  duration,
  type Money,
  number,
  type OrganisationOption,
  organisationChoice,
  plot,
  section,
  share,
  since,
  source,
  table,
} from './elements.ts';

const COMMAND = 'offerbook transactions totals --json';

export interface TotalsView {
  readonly nowMs: number;
  readonly organisations: readonly OrganisationOption[];
  /** The organisation that the page is about; undefined for all. */
  readonly org: OrganisationOption | undefined;
  /** When, in what time and how many transactions were counted; undefined until the first count has ended. */
  readonly last:
    | { readonly countedAtMs: number; readonly tookMs: number; readonly count: number }
    | undefined;
  /** Transactions read by the count in progress; undefined if none is in progress. */
  readonly counted: number | undefined;
  /** Undefined until the first count has ended. */
  readonly totals: Totals | undefined;
}

export interface Totals {
  readonly currencies: readonly CurrencyMonths[];
  readonly ages: readonly AgeGroup[];
  /** Retailers with most declined transactions; `retailerCount` counts all. */
  readonly retailers: readonly RetailerDecisions[];
  readonly retailerCount: number;
  readonly months: readonly MonthTotal[];
}

interface CurrencyMonths {
  readonly currency: string;
  /** Oldest month first. */
  readonly months: readonly {
    readonly month: string;
    readonly pending: Money;
    readonly confirmed: Money;
    readonly declined: Money;
  }[];
}

/** Pending transactions of one currency that were sold so long ago. */
export interface AgeGroup {
  readonly currency: string;
  /** Days since the sale: at least `fromDays`, less than `untilDays`. */
  readonly fromDays: number | undefined;
  readonly untilDays: number | undefined;
  readonly count: number;
  /** Number of all pending transactions of the currency. */
  readonly allCount: number;
  readonly cashback: Money;
}

export interface RetailerDecisions {
  readonly name: string;
  readonly pending: number;
  readonly confirmed: number;
  readonly declined: number;
}

interface MonthTotal {
  readonly org: string;
  readonly currency: string;
  readonly month: string;
  readonly status: string;
  readonly count: number;
  readonly orderValue: Money;
  readonly cashback: Money;
}

export function totalsPage(view: TotalsView): ConsolePage {
  const { organisations, org, totals } = view;
  return {
    title: 'Totals',
    main: html`${ageNote(view)}
<form class="filter" method="get" action="/totals">
${organisationChoice(organisations, org)}
<button type="submit">Show</button></form>
${totals === undefined ? undefined : totalSections(totals)}`,
  };
}

/** States how old the count is, because it may be older than the page. */
function ageNote({ last, counted, nowMs }: TotalsView): Html {
  const progress = counted === undefined ? '' : ` A new count is running: ${printCount(counted)} so far.`;
  if (last === undefined) {
    return html`<p class="notice" role="status">Transactions are being counted for the first time since the node started.${progress} Reload this page in a moment.</p>`;
  }
  return html`<p class="muted" role="status">${number(last.count)} transactions, counted ${since(last.countedAtMs, nowMs)} in ${duration(last.tookMs)}.${progress}</p>`;
}

function totalSections(totals: Totals): Html {
  return html`${totals.currencies.map(currencySection)}
${section('Pending transactions by age', ageTable(totals.ages), source(COMMAND))}
${section('Share declined, by retailer', retailerTable(totals), source(COMMAND, 'offerbook export catalogue'))}
${section('By organisation, currency and month', monthTable(totals.months), source(COMMAND))}`;
}

function currencySection({ currency, months }: CurrencyMonths): Html {
  return section(
    `Cashback in ${currency}`,
    plot(
      'bars',
      `Cashback in ${currency} by month of the sale`,
      ['Month', 'Pending', 'Confirmed', 'Declined'],
      months.map(({ month, pending, confirmed, declined }) => [
        html`<time datetime="${month}">${month}</time>`,
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
    ['Currency and age', 'Transactions', 'Share', 'Share as bar', 'Cashback'],
    ages.map((group): Cell[] => [
      `${group.currency}, ${ageWords(group)}`,
      number(group.count),
      share(group.count, group.allCount),
      bar(group.count, group.allCount),
      amount(group.cashback),
    ]),
    'No pending transactions.',
  );
}

function ageWords({ fromDays, untilDays }: AgeGroup): string {
  if (untilDays === undefined) return `${fromDays} days and more`;
  return fromDays === undefined ? `less than ${untilDays} days` : `${fromDays} to ${untilDays} days`;
}

function retailerTable({ retailers, retailerCount }: Totals): Html {
  return html`${table(
    'Retailers with most declined transactions',
    ['Retailer', 'Pending', 'Confirmed', 'Declined', 'Share declined', 'Share as bar'],
    retailers.map(({ name, pending, confirmed, declined }) => [
      html`<bdi>${name}</bdi>`,
      number(pending),
      number(confirmed),
      number(declined),
      share(declined, confirmed + declined),
      bar(declined, confirmed + declined),
    ]),
    'No transactions.',
  )}${retailerCount > retailers.length ? html`<p class="muted">The ${number(retailers.length)} retailers with most declined transactions, of ${number(retailerCount)}.</p>` : undefined}`;
}

function monthTable(months: readonly MonthTotal[]): Html {
  return table(
    'Totals by organisation, currency and month',
    ['Organisation', 'Currency', 'Month', 'Status', 'Transactions', 'Order value', 'Cashback'],
    months.map(({ org, currency, month, status, count, orderValue, cashback }) => [
      html`<bdi>${org}</bdi>`,
      currency,
      month,
      status,
      number(count),
      amount(orderValue),
      amount(cashback),
    ]),
    'No transactions.',
  );
}
