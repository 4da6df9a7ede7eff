// Transactions: the latest ones, and one search field for an id, a user or an organisation; and the page of one transaction with its
// history. A passbackUid may identify a person, so the form uses POST, and only a transaction's own page shows it.

import { printJson } from '@offerbook/wire/decimal.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  amount,
  facts,
  linked,
  moment,
  number,
  type OrganisationOption,
  organisationChoice,
  organisationLink,
  section,
  shortId,
  shownOf,
  source,
  table,
  tag,
  timeField,
} from './elements.ts';

export interface SearchView {
  readonly nowMs: number;
  readonly organisations: readonly OrganisationOption[];
  /** The reader's input, shown again in the form. `org` is a public id or a name. */
  readonly entered: { readonly org: string; readonly from: string; readonly until: string };
  /** True for a search: its result cannot be refreshed. */
  readonly isPosted: boolean;
  readonly result:
    | { readonly by: 'problem'; readonly words: string }
    /** A user's newest transactions; `count` counts all. */
    | {
        readonly by: 'user';
        readonly found: readonly FoundTransaction[];
        readonly count: number;
        /** An organisation whose name is the same text. */
        readonly org?: OrganisationOption | undefined;
      }
    /** Latest change first. */
    | {
        readonly by: 'time';
        readonly found: readonly FoundTransaction[];
        /** Query string of the next page. */
        readonly next: string | undefined;
        readonly isFirst: boolean;
      };
}

export interface FoundTransaction {
  readonly orgName: string;
  readonly transaction: Transaction;
  /** Undefined if it is unknown or no longer in the catalogue. */
  readonly retailer: string | undefined;
}

export function transactionsPage({
  nowMs,
  organisations,
  entered,
  isPosted,
  result,
}: SearchView): ConsolePage {
  return {
    ...(result.by === 'problem' ? { status: 400 } : {}),
    title: 'Transactions',
    main: html`<form class="search row" method="post" action="/transactions" role="search"${isPosted ? html` data-posted` : undefined}>
<input type="search" name="q" aria-label="Transaction id, passbackUid or organisation" placeholder="Id, passbackUid or organisation" autocomplete="off" spellcheck="false" maxlength="${TEXT_LENGTH_MAX}" required>
<button class="primary" type="submit">Search</button></form>
${resultSection(result, filterForm(organisations, entered), nowMs)}`,
  };
}

function filterForm(organisations: readonly OrganisationOption[], entered: SearchView['entered']): Html {
  const chosen = organisations.find(({ publicId, name }) => publicId === entered.org || name === entered.org);
  return html`<form class="filter row" method="get" action="/transactions">
${organisationChoice(organisations, chosen)}
${timeField('Changed from (UTC)', 'from', entered.from)}
${timeField('Changed until (UTC)', 'until', entered.until)}
<button type="submit">Show</button></form>`;
}

function resultSection(result: SearchView['result'], filter: Html, nowMs: number): Html {
  if (result.by === 'problem') return html`${filter}<p class="problem" role="alert">${result.words}</p>`;
  if (result.by === 'user')
    return section(
      'Transactions of this user',
      result.org &&
        html`<p>There is also an organisation of this name: <a href="/transactions?org=${result.org.publicId}"><bdi>${result.org.name}</bdi></a></p>`,
      transactionTable(result.found, nowMs),
      shownOf('newest', result.found.length, result.count),
      html`<p><a href="/transactions">All transactions</a></p>`,
      source('offerbook transactions find --passback-uid …'),
    );
  return section(
    result.isFirst ? 'Latest changes' : 'Earlier changes',
    filter,
    transactionTable(result.found, nowMs),
    html`<p class="row">${result.isFirst ? undefined : html`<a href="/transactions">Latest</a>`}${result.next === undefined ? undefined : html`<a href="/transactions?${result.next}">Older</a>`}</p>`,
    source('GET /v1/transactions/?updatedAtGreaterThan=…&updatedAtLessThan=…'),
    html`<p class="source">Sorted by the time of the last change, ${number(result.found.length)} on this page. Both times are inclusive.</p>`,
  );
}

/** Omits the passbackUid, which only a transaction's own page shows. */
function transactionTable(found: readonly FoundTransaction[], nowMs: number): Html {
  return table(
    'Transactions',
    found,
    {
      Transaction: ({ transaction: { id } }) => linked(`/transactions/${id}`, shortId(id)),
      Organisation: ({ orgName }) => organisationLink(orgName),
      Retailer: ({ retailer }) =>
        retailer === undefined ? html`<span class="muted">unknown</span>` : html`<bdi>${retailer}</bdi>`,
      Status: ({ transaction }) => statusTag(transaction.status),
      Order: ({ transaction }) => amount(transaction.orderValue, transaction.currencyCode),
      Cashback: ({ transaction }) => amount(transaction.cashback, transaction.currencyCode),
      Sold: ({ transaction }) => ago(timestampMs(transaction.soldAt), nowMs),
      Updated: ({ transaction }) => ago(timestampMs(transaction.updatedAt), nowMs),
    },
    'No transactions found.',
  );
}

interface TransactionView {
  readonly transaction: Transaction;
  readonly orgName: string;
  /** Retailer name; undefined if the catalogue no longer contains the deal. */
  readonly retailer: string | undefined;
  /** Newest first. */
  readonly versions: readonly ShownVersion[];
}

export interface ShownVersion {
  readonly transaction: Transaction;
  readonly fromMs: number;
  /** Null for the current version. */
  readonly untilMs: number | null;
  /** Undefined if the import log no longer contains the import. */
  readonly import: { readonly id: number; readonly fileName: string; readonly by: string } | undefined;
}

export function transactionPage({ transaction, orgName, retailer, versions }: TransactionView): ConsolePage {
  const { id: _, status, orderValue, cashback, currencyCode, ...fields } = transaction;
  return {
    title: `Transaction ${transaction.id}`,
    heading: html`Transaction <code>${transaction.id}</code>`,
    main: html`<nav aria-label="Back"><a class="back" href="/transactions">Transactions</a></nav>
${section(
  'Current version',
  facts(
    [
      ['Status', statusTag(status)],
      ['Organisation', organisationLink(orgName)],
      ['Retailer', retailer === undefined ? 'unknown' : html`<bdi>${retailer}</bdi>`],
      ['orderValue', amount(orderValue, currencyCode)],
      ['cashback', amount(cashback, currencyCode)],
      ...Object.entries(fields).map(([name, value]) => [name, printValue(name, value)] as const),
    ],
    'wide panel',
  ),
)}
${section(
  'History',
  table('Versions, newest first', versions, {
    'From (UTC)': ({ fromMs }) => moment(fromMs),
    'Until (UTC)': ({ untilMs }) => (untilMs === null ? 'now' : moment(untilMs)),
    Status: (version) => statusTag(version.transaction.status),
    Order: (version) => amount(version.transaction.orderValue, version.transaction.currencyCode),
    Cashback: (version) => amount(version.transaction.cashback, version.transaction.currencyCode),
    Import: ({ import: entry }) =>
      entry === undefined
        ? 'not in the import log'
        : html`<a href="/imports/${entry.id}">${entry.id}</a>: <bdi>${entry.fileName}</bdi>`,
    'Run by': ({ import: entry }) => (entry === undefined ? '' : html`<bdi>${entry.by}</bdi>`),
  }),
  source(`offerbook transactions show ${transaction.id}`),
)}`,
  };
}

function printValue(name: string, value: string | number | null): Html {
  if (value === null) return html`–`;
  if (name === 'id' || name.endsWith('Id')) return html`<code>${value}</code>`;
  return html`<bdi>${typeof value === 'number' ? printJson(value) : value}</bdi>`;
}

export function statusTag(status: Status): Html {
  return tag(status, status === 'CONFIRMED' ? 'good' : status === 'DECLINED' ? 'bad' : 'pending');
}

export const NO_SUCH_TRANSACTION: ConsolePage = {
  status: 404,
  title: 'No such transaction',
  main: html`<p class="lead">There is no transaction with this id. <a href="/transactions">Search</a></p>`,
};
