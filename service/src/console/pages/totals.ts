// How much is pending, confirmed, declined?

import { type Html, html } from '@offerbook/site/html.ts';
import { printCount } from '@offerbook/wire/count.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { MakePage } from '../console-page.ts';
import type { CatalogueContents } from '../counts/catalogue-contents.ts';
import type { Kept } from '../counts/kept-count.ts';
import {
  AGE_BOUNDS_DAYS,
  type MonthTotal,
  type RetailerTotal,
  STATUS_ORDER,
  sumOf,
  type TransactionTotals,
} from '../counts/transaction-totals.ts';
import {
  amount,
  bar,
  type Cell,
  choice,
  duration,
  number,
  plot,
  section,
  share,
  since,
  source,
  table,
} from '../elements.ts';

const RETAILERS_MAX = 50;
const AGES = [...AGE_BOUNDS_DAYS, undefined].map((bound, i, all) => {
  const from = all[i - 1];
  if (bound === undefined) return `${from} days and more`;
  return from === undefined ? `less than ${bound} days` : `${from} to ${bound} days`;
});
const COMMAND = 'offerbook transactions totals --json';

export const totalsPage: MakePage = async ({ node, stores: openStores, counts, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const kept = await counts.transactions.read();
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  const contents = await counts.catalogue.read(stores);
  const totals =
    kept.last && (org === undefined ? kept.last.value : ofOrganisation(kept.last.value, org.name));
  return {
    title: 'Totals',
    main: html`${ageNote(kept, node.nowMs)}
<form class="filter" method="get" action="/totals">
${choice('Organisation', 'org', [['', 'All'], ...organisations.map(({ publicId, name }) => [publicId, name] as const)], org?.publicId ?? '')}
<button type="submit">Show</button></form>
${totals === undefined ? undefined : totalSections(totals, contents)}`,
  };
};

/** The count may be older than the page, and says so. */
function ageNote({ last, counted }: Kept<TransactionTotals>, nowMs: number): Html {
  const progress = counted === undefined ? '' : ` Counting anew: ${printCount(counted)} so far.`;
  if (last === undefined) {
    return html`<p class="notice" role="status">The transactions are being counted for the first time since the node started.${progress} Open this page again in a moment.</p>`;
  }
  return html`<p class="muted" role="status">${number(last.value.count)} transactions, counted ${since(last.countedAtMs, nowMs)} in ${duration(last.tookMs)}.${progress}</p>`;
}

function ofOrganisation(totals: TransactionTotals, name: string): TransactionTotals {
  const months = totals.months.filter(({ org }) => org === name);
  return {
    months,
    ages: totals.ages.filter(({ org }) => org === name),
    retailers: totals.retailers.filter(({ org }) => org === name),
    count: sumOf(months).count,
  };
}

function totalSections(totals: TransactionTotals, contents: CatalogueContents): Html {
  const currencies = [...Map.groupBy(totals.months, ({ currency }) => currency)].toSorted();
  return html`${currencies.map(([currency, months]) => currencySection(currency, months))}
${section('Pending, by how long ago they were sold', ageTable(totals), source(COMMAND))}
${section('Share declined, by retailer', retailerTable(totals.retailers, contents), source(COMMAND, 'offerbook export catalogue'))}
${section('By organisation, currency and month', monthTable(totals.months), source(COMMAND))}`;
}

function currencySection(currency: string, months: readonly MonthTotal[]): Html {
  const byMonth = [...Map.groupBy(months, ({ month }) => month)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const cashback = (group: readonly MonthTotal[], status: Status) =>
    amount(sumOf(group.filter((one) => one.status === status)).cashback);
  return section(
    `Cashback in ${currency}`,
    plot(
      'bars',
      `Cashback in ${currency} by month of the sale`,
      ['Month', 'Pending', 'Confirmed', 'Declined'],
      byMonth.map(([month, group]) => [
        html`<time datetime="${month}">${month}</time>`,
        ...STATUS_ORDER.map((status) => cashback(group, status)),
      ]),
    ),
    source(COMMAND),
  );
}

function ageTable({ ages }: TransactionTotals): Html {
  const rows = [...Map.groupBy(ages, ({ currency }) => currency)].toSorted().flatMap(([currency, group]) => {
    const all = sumOf(group);
    return AGES.map((words, age): Cell[] => {
      const { count, cashback } = sumOf(group.filter((one) => one.age === age));
      return [
        `${currency}, ${words}`,
        number(count),
        share(count, all.count),
        bar(count, all.count),
        amount(cashback),
      ];
    });
  });
  return table(
    'Pending transactions by age',
    ['Currency and age', 'Transactions', 'Share', 'Of all', 'Cashback'],
    rows,
    'None is pending.',
  );
}

function retailerTable(totals: readonly RetailerTotal[], { retailers }: CatalogueContents): Html {
  const nameOf = ({ retailer }: RetailerTotal) => retailers.get(retailer as Uuid) ?? retailer;
  const groups = [...Map.groupBy(totals, nameOf)].map(([name, group]) => {
    const of = (status: Status) => group.reduce((sum, { counts }) => sum + counts[status], 0);
    const [pending, confirmed, declined] = STATUS_ORDER.map(of) as [number, number, number];
    return { name, pending, confirmed, declined, decided: confirmed + declined };
  });
  const shown = groups
    .toSorted((a, b) => b.declined - a.declined || b.decided - a.decided || (a.name < b.name ? -1 : 1))
    .slice(0, RETAILERS_MAX);
  return html`${table(
    'Retailers with most declined transactions',
    ['Retailer', 'Pending', 'Confirmed', 'Declined', 'Share declined', 'Of those decided'],
    shown.map(({ name, pending, confirmed, declined, decided }) => [
      html`<bdi>${name}</bdi>`,
      number(pending),
      number(confirmed),
      number(declined),
      share(declined, decided),
      bar(declined, decided),
    ]),
    'No transactions.',
  )}${groups.length > shown.length ? html`<p class="muted">The ${number(shown.length)} with most declined, of ${number(groups.length)}.</p>` : undefined}`;
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
