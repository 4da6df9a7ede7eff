// Transactions: the latest ones, and one search field for an id, a user or an organisation. A passbackUid may identify a
// person, so the form uses POST and the page does not repeat the text.

import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  ago,
  amount,
  linked,
  number,
  type OrganisationOption,
  organisationChoice,
  organisationLink,
  section,
  shortId,
  shownOf,
  source,
  table,
  timeField,
} from './elements.ts';
import { statusTag } from './transaction-page.ts';

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
