// Transactions: the latest ones, and one search field for an id, a user or an organisation. A passbackUid may identify a person,
// so the form uses POST, and only a transaction's own page shows it.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { parseInstant, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Organisation } from '../../domain/organisation.ts';
import type { Stores } from '../../domain/stores.ts';
import { ALL_STAMPS, type TransactionVersion } from '../../domain/transaction.ts';
import { seeOther } from '../../http/reply.ts';
import { findOrganisation, type MakePage, type PageContext } from '../page-context.ts';

const PAGE_SIZE = 50;

/** Lists the latest transactions, or those of an organisation or a period. */
export const transactionsPage: MakePage = async (context) => {
  const { query } = context;
  const stores = await context.stores();
  const organisations = await stores.organisations.list();
  const org = findOrganisation(organisations, query.get('org'));
  const filter = filterForm(organisations, org, query);
  if (org === undefined && (query.get('org') ?? '') !== '')
    return invalidSearch('There is no such organisation.', filter);
  const [from, until] = [parseBound(query.get('from')), parseBound(query.get('until'))];
  if (from === 'invalid' || until === 'invalid')
    return invalidSearch('A time must look like 2026-11-14T12:00:00.', filter);
  const window = { minMs: from ?? 0, maxMs: until ?? ALL_STAMPS.maxMs };
  const after = parsePlace(query.get('after'));
  // One more than shown, to know whether others follow.
  const latest = await stores.history.latest({ orgId: org?.id, window, after, limit: PAGE_SIZE + 1 });
  const versions = latest.slice(0, PAGE_SIZE);
  const last = latest.length > PAGE_SIZE ? versions.at(-1) : undefined;
  const next = new URLSearchParams(query);
  if (last !== undefined) next.set('after', `${last.fromMs}.${last.id}`);
  return searchPage(
    ui.section(
      after === undefined ? 'Latest changes' : 'Earlier changes',
      filter,
      await transactionTable(context, stores, versions),
      html`<p class="row">${after && html`<a href="/transactions">Latest</a>`}${last && html`<a href="/transactions?${next.toString()}">Older</a>`}</p>`,
      ui.source('GET /v1/transactions/?updatedAtGreaterThan=…&updatedAtLessThan=…'),
      html`<p class="source">Sorted by the time of the last change, ${ui.number(versions.length)} on this page. Both times are inclusive.</p>`,
    ),
  );
};

/**
 * Searches for the text that was entered in the form. An id or an organisation has a page of its own. Any other text is a
 * passbackUid, and so is a UUID that is neither: partners use UUIDs for their users.
 */
export const transactionSearch: MakePage = async (context) => {
  const text = context.form.get('q') ?? '';
  const stores = await context.stores();
  const organisations = await stores.organisations.list();
  const word = text.trim();
  const id = parseUuid(word);
  if (id !== undefined && (await stores.history.versions(id)).length > 0)
    return seeOther(`/transactions/${id}`);
  if (text === '' || text.length > TEXT_LENGTH_MAX)
    return invalidSearch(
      `Enter 1 to ${printCount(TEXT_LENGTH_MAX)} characters.`,
      filterForm(organisations),
      'posted',
    );
  const { count, newest } = await stores.history.findByPassbackUid(text, { limit: PAGE_SIZE });
  const org = findOrganisation(organisations, word);
  if (org !== undefined && count === 0) return seeOther(`/transactions?org=${org.publicId}`);
  return searchPage(
    ui.section(
      'Transactions of this user',
      org &&
        html`<p>There is also an organisation of this name: <a href="/transactions?org=${org.publicId}"><bdi>${org.name}</bdi></a></p>`,
      await transactionTable(context, stores, newest),
      ui.shownOf('newest', newest.length, count),
      html`<p><a href="/transactions">All transactions</a></p>`,
      ui.source('offerbook transactions find --passback-uid …'),
    ),
    'posted',
  );
};

/** The script does not refresh the result of a posted search. */
function searchPage(result: Html, isPosted?: 'posted') {
  return {
    title: 'Transactions',
    main: html`<form class="search row" method="post" action="/transactions" role="search"${isPosted && html` data-posted`}>
<input type="search" name="q" aria-label="Transaction id, passbackUid or organisation" placeholder="Id, passbackUid or organisation" autocomplete="off" spellcheck="false" maxlength="${TEXT_LENGTH_MAX}" required>
<button class="primary" type="submit">Search</button></form>
${result}`,
  };
}

function invalidSearch(problem: string, filter: Html, isPosted?: 'posted') {
  const result = html`${filter}<p class="problem" role="alert">${problem}</p>`;
  return { ...searchPage(result, isPosted), status: 400 };
}

/** Shows the reader's input again. */
function filterForm(
  organisations: readonly Organisation[],
  org?: Organisation,
  query = new URLSearchParams(),
): Html {
  return html`<form class="filter row" method="get" action="/transactions">
${ui.organisationChoice(organisations, org)}
${ui.timeField('Changed from (UTC)', 'from', query.get('from') ?? '')}
${ui.timeField('Changed until (UTC)', 'until', query.get('until') ?? '')}
<button type="submit">Show</button></form>`;
}

function parseBound(text: string | null): number | undefined | 'invalid' {
  if (text === null || text.trim() === '') return undefined;
  return parseInstant(text.trim())?.ms ?? 'invalid';
}

/** `1763123456789.0192d1a0-…`: the last transaction of the previous page. */
function parsePlace(text: string | null): { fromMs: number; id: Uuid } | undefined {
  const [, stamp = '', idText = ''] = /^(\d{1,16})\.(.+)$/.exec(text ?? '') ?? [];
  const id = parseUuid(idText);
  return id === undefined ? undefined : { fromMs: Number(stamp), id };
}

async function transactionTable(
  { catalogue, node: { nowMs } }: PageContext,
  stores: Stores,
  versions: readonly TransactionVersion[],
): Promise<Html> {
  const { retailers } = await catalogue.read(stores);
  const retailerOf = await stores.transactions.findRetailers(versions.map(({ id }) => id));
  const rows = versions.map(({ id, orgName, document }) => {
    const retailerId = retailerOf.get(id);
    const retailer = retailerId && retailers.get(retailerId);
    return { orgName, retailer, transaction: JSON.parse(document) as Transaction };
  });
  return ui.table(
    'Transactions',
    rows,
    {
      Transaction: ({ transaction: { id } }) => ui.linked(`/transactions/${id}`, ui.shortId(id)),
      Organisation: ({ orgName }) => ui.organisationLink(orgName),
      Retailer: ({ retailer }) =>
        retailer === undefined ? html`<span class="muted">unknown</span>` : html`<bdi>${retailer}</bdi>`,
      Status: ({ transaction }) => statusTag(transaction.status),
      Order: ({ transaction }) => ui.amount(transaction.orderValue, transaction.currencyCode),
      Cashback: ({ transaction }) => ui.amount(transaction.cashback, transaction.currencyCode),
      Sold: ({ transaction }) => ui.ago(timestampMs(transaction.soldAt), nowMs),
      Updated: ({ transaction }) => ui.ago(timestampMs(transaction.updatedAt), nowMs),
    },
    'No transactions found.',
  );
}

export function statusTag(status: Status): Html {
  return ui.tag(status, status === 'CONFIRMED' ? 'good' : status === 'DECLINED' ? 'bad' : 'pending');
}
