// The transaction search: by id, by passbackUid, or by organisation and time of the last change. A passbackUid may identify
// a person, so its form uses POST and the page does not repeat it.

import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import {
  amount,
  choice,
  field,
  moment,
  number,
  type OrganisationOption,
  section,
  shownOf,
  source,
  table,
} from './elements.ts';
import { statusTag } from './transaction-page.ts';

export interface SearchView {
  readonly nowMs: number;
  readonly organisations: readonly OrganisationOption[];
  /** The reader's input, shown again in the forms. */
  readonly entered: {
    readonly id: string;
    readonly org: string;
    readonly from: string;
    readonly until: string;
  };
  /** True for a search by passbackUid. */
  readonly isPosted: boolean;
  /** Undefined before the first search. */
  readonly result: SearchResult | { readonly problem: string } | undefined;
}

export type SearchResult =
  | { readonly by: 'id'; readonly found: FoundTransaction }
  /** A user's newest transactions; `count` counts all. */
  | { readonly by: 'user'; readonly found: readonly FoundTransaction[]; readonly count: number }
  | {
      readonly by: 'time';
      readonly found: readonly FoundTransaction[];
      readonly pageSize: number;
      /** Query string of the next page. */
      readonly next: string | undefined;
    };

export interface FoundTransaction {
  readonly orgName: string;
  readonly transaction: Transaction;
}

export function transactionsPage({
  nowMs,
  organisations,
  entered,
  isPosted,
  result,
}: SearchView): ConsolePage {
  return {
    ...(result !== undefined && 'problem' in result ? { status: 400 } : {}),
    title: 'Transactions',
    main: html`<div class="searches"${isPosted ? html` data-posted` : undefined}>
<form class="panel stack" method="get" action="/transactions"><h2>By id</h2>
${field('Transaction id', 'id', entered.id, '0192d1a0-0000-7000-8000-000000000101')}
<button type="submit">Find</button></form>
<form class="panel stack" method="post" action="/transactions"><h2>By user</h2>
${field('passbackUid (exact match)', 'passbackUid', '', 'user-8842', TEXT_LENGTH_MAX)}
<button type="submit">Search</button></form>
<form class="panel stack" method="get" action="/transactions"><h2>By time of last change</h2>
${choice(
  'Organisation',
  'org',
  organisations.map(({ publicId, name }) => [publicId, name] as const),
  entered.org,
)}
${field('From (UTC)', 'from', entered.from, printTimestamp(nowMs - 3_600_000).slice(0, 19))}
${field('Until (UTC)', 'until', entered.until, 'now')}
<button type="submit">List</button></form>
</div>
${result === undefined ? undefined : resultSection(result)}`,
  };
}

function resultSection(result: NonNullable<SearchView['result']>): Html {
  if ('problem' in result) return html`<p class="problem" role="alert">${result.problem}</p>`;
  switch (result.by) {
    case 'id':
      return section(
        'Result',
        transactionTable([result.found]),
        source(`offerbook transactions show ${result.found.transaction.id}`),
      );
    case 'user':
      return section(
        'Transactions of this user',
        transactionTable(result.found),
        shownOf('newest', result.found.length, result.count),
        source('offerbook transactions find --passback-uid …'),
      );
    case 'time':
      return section(
        'Changed in this period',
        transactionTable(result.found),
        result.next === undefined
          ? undefined
          : html`<p><a href="/transactions?${result.next}">Next page</a></p>`,
        source('GET /v1/transactions/?updatedAtGreaterThan=…&updatedAtLessThan=…'),
        html`<p class="source">Sorted by id, at most ${number(result.pageSize)} per page. Both times are inclusive.</p>`,
      );
  }
}

/** Omits the passbackUid, which only a transaction's own page shows. */
function transactionTable(found: readonly FoundTransaction[]): Html {
  return table(
    'Transactions',
    ['Transaction', 'Organisation', 'Status', 'Order', 'Cashback', 'Currency', 'Sold (UTC)', 'Updated (UTC)'],
    found.map(({ orgName, transaction }) => [
      html`<a href="/transactions/${transaction.id}"><code>${transaction.id}</code></a>`,
      html`<bdi>${orgName}</bdi>`,
      statusTag(transaction.status),
      amount(transaction.orderValue),
      amount(transaction.cashback),
      transaction.currencyCode,
      timeOf(transaction.soldAt),
      timeOf(transaction.updatedAt),
    ]),
    'No transactions found.',
  );
}

function timeOf(timestamp: Transaction['soldAt']): Html {
  return moment(Date.parse(`${timestamp}Z`));
}
