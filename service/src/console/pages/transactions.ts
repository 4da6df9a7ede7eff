// Where is this sale? A search by id, by the user's passbackUid, or by organisation and time of the last change. A
// passbackUid may name a person: it comes in the body of a request, and the answer does not repeat it.

import { type Html, html } from '@offerbook/site/html.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { parseInstant, printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { TransactionVersion } from '../../domain/books.ts';
import type { PublicOrganisation } from '../../domain/stores.ts';
import type { ConsolePage, ConsoleStores, MakePage, PageContext } from '../console-page.ts';
import { amount, choice, field, moment, number, section, shownOf, source, table } from '../elements.ts';
import { statusTag } from './transaction.ts';

const LIST_MAX = 100;
const LATEST_MS = 8.64e15;

/** What a search found, or why it could not. */
type Found =
  | { readonly heading: string; readonly content: readonly (Html | undefined)[] }
  | { readonly problem: string };

export const transactionsPage: MakePage = async (context) => {
  const stores = await context.stores();
  const organisations = await stores.organisations.list();
  const { query } = context;
  const found = await search(context, stores, organisations);
  const isProblem = found !== undefined && 'problem' in found;
  return {
    ...(isProblem ? { status: 400 } : {}),
    title: 'Transactions',
    main: html`<div class="searches"${context.form.has('passbackUid') ? html` data-posted` : undefined}>
<form method="get" action="/transactions"><h2>By id</h2>
${field("The transaction's id", 'id', query.get('id') ?? '', '0192d1a0-0000-7000-8000-000000000101')}
<button type="submit">Find</button></form>
<form method="post" action="/transactions"><h2>By user</h2>
${field('passbackUid, exactly', 'passbackUid', '', 'user-8842', TEXT_LENGTH_MAX)}
<p class="muted">Reads every transaction, which may take a while.</p>
<button type="submit">Search</button></form>
<form method="get" action="/transactions"><h2>By time of the last change</h2>
${choice(
  'Organisation',
  'org',
  organisations.map(({ publicId, name }) => [publicId, name] as const),
  query.get('org') ?? '',
)}
${field('From (UTC)', 'from', query.get('from') ?? '', printTimestamp(context.node.nowMs - 3_600_000).slice(0, 19))}
${field('Until (UTC)', 'until', query.get('until') ?? '', 'now')}
<button type="submit">List</button></form>
</div>
${found === undefined ? undefined : resultSection(found)}`,
  } satisfies ConsolePage;
};

function resultSection(found: Found): Html {
  return 'problem' in found
    ? html`<p class="problem" role="alert">${found.problem}</p>`
    : section(found.heading, ...found.content);
}

async function search(
  { query, form }: PageContext,
  stores: ConsoleStores,
  organisations: readonly PublicOrganisation[],
): Promise<Found | undefined> {
  const passbackUid = form.get('passbackUid');
  if (passbackUid !== null) return searchByUser(stores, passbackUid);
  const id = query.get('id');
  if (id !== null) return searchById(stores, id.trim());
  if (query.has('org')) return searchByTime(stores, organisations, query);
  return undefined;
}

async function searchById(stores: ConsoleStores, text: string): Promise<Found> {
  const id = parseUuid(text);
  if (id === undefined) return { problem: "A transaction's id is a UUID." };
  const [current] = await stores.history.versions(id);
  if (current === undefined) return { problem: 'There is no transaction with this id.' };
  return {
    heading: 'Found',
    content: [versionTable([current]), source(`offerbook transactions show ${id}`)],
  };
}

async function searchByUser(stores: ConsoleStores, passbackUid: string): Promise<Found> {
  if (passbackUid === '' || passbackUid.length > TEXT_LENGTH_MAX)
    return { problem: `A passbackUid has 1 to ${printCount(TEXT_LENGTH_MAX)} characters.` };
  const { count, newest } = await stores.history.findByPassbackUid(passbackUid, { limit: LIST_MAX });
  return {
    heading: 'Transactions of this user',
    content: [
      versionTable(newest),
      shownOf('newest', newest.length, count),
      source('offerbook transactions find --passback-uid …'),
    ],
  };
}

async function searchByTime(
  stores: ConsoleStores,
  organisations: readonly PublicOrganisation[],
  query: URLSearchParams,
): Promise<Found> {
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  if (org === undefined) return { problem: 'There is no such organisation.' };
  const [from, until] = [parseBound(query.get('from')), parseBound(query.get('until'))];
  if (from === 'bad' || until === 'bad') return { problem: 'A time looks like 2026-11-14T12:00:00.' };
  const cursor = parseUuid(query.get('cursor') ?? '');
  const window = { minMs: from ?? 0, maxMs: until ?? LATEST_MS };
  const page = await stores.transactions.page({ orgId: org.id, cursor, window, limit: LIST_MAX });
  const listed = JSON.parse(`[${Buffer.from(page.data).toString()}]`) as Transaction[];
  const next = new URLSearchParams(query);
  if (page.cursor !== undefined) next.set('cursor', page.cursor);
  return {
    heading: 'Changed in this time',
    content: [
      transactionTable(listed.map((sale) => ({ ...sale, org: org.name }))),
      page.cursor === undefined
        ? undefined
        : html`<p><a href="/transactions?${next.toString()}">Next page</a></p>`,
      source('GET /v1/transactions/?updatedAtGreaterThan=…&updatedAtLessThan=…'),
      html`<p class="source">In the order of their ids, at most ${number(LIST_MAX)} on a page. Both times count as within.</p>`,
    ],
  };
}

function parseBound(text: string | null): number | undefined | 'bad' {
  if (text === null || text.trim() === '') return undefined;
  return parseInstant(text.trim())?.ms ?? 'bad';
}

function versionTable(versions: readonly TransactionVersion[]): Html {
  return transactionTable(
    versions.map(({ orgName, document }) => ({ ...(JSON.parse(document) as Transaction), org: orgName })),
  );
}

type Listed = Pick<
  Transaction,
  'id' | 'status' | 'currencyCode' | 'orderValue' | 'cashback' | 'soldAt' | 'updatedAt'
> & {
  readonly org: string;
};

/** Without the passbackUid: that is for the page of one sale. */
function transactionTable(sales: readonly Listed[]): Html {
  return table(
    'Transactions',
    ['Transaction', 'Organisation', 'Status', 'Order', 'Cashback', 'Currency', 'Sold (UTC)', 'Updated (UTC)'],
    sales.map((sale) => [
      html`<a href="/transactions/${sale.id}"><code>${sale.id}</code></a>`,
      html`<bdi>${sale.org}</bdi>`,
      statusTag(sale.status),
      amount(sale.orderValue),
      amount(sale.cashback),
      sale.currencyCode,
      timeOf(sale.soldAt),
      timeOf(sale.updatedAt),
    ]),
    'None.',
  );
}

function timeOf(timestamp: Transaction['soldAt']): Html {
  return moment(Date.parse(`${timestamp}Z`));
}
