// Reads the data for the console's transactions page: searches by id, by passbackUid, or by organisation and time of the last
// change.

import {
  type FoundTransaction,
  transactionsPage as render,
  type SearchView,
} from '@offerbook/site/console/transactions-page.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { parseInstant } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { PublicOrganisation } from '../../domain/organisation.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TransactionVersion } from '../../domain/transaction.ts';
import type { MakePage, PageContext } from '../page-context.ts';

const PAGE_SIZE = 100;
const LATEST_MS = 8.64e15;

type Result = NonNullable<SearchView['result']>;

export const transactionsPage: MakePage = async (context) => {
  const stores = await context.stores();
  const organisations = await stores.organisations.list();
  const { query, form, node } = context;
  const entered = (name: string) => query.get(name) ?? '';
  return render({
    nowMs: node.nowMs,
    organisations,
    entered: { id: entered('id'), org: entered('org'), from: entered('from'), until: entered('until') },
    isPosted: form.has('passbackUid'),
    result: await search(context, stores, organisations),
  });
};

async function search(
  { query, form }: PageContext,
  stores: Stores,
  organisations: readonly PublicOrganisation[],
): Promise<Result | undefined> {
  const passbackUid = form.get('passbackUid');
  if (passbackUid !== null) return searchByUser(stores, passbackUid);
  const id = query.get('id');
  if (id !== null) return searchById(stores, id.trim());
  if (query.has('org')) return searchByTime(stores, organisations, query);
  return undefined;
}

async function searchById(stores: Stores, text: string): Promise<Result> {
  const id = parseUuid(text);
  if (id === undefined) return { problem: 'A transaction id must be a UUID.' };
  const [current] = await stores.history.versions(id);
  if (current === undefined) return { problem: 'There is no transaction with this id.' };
  return { by: 'id', found: foundVersion(current) };
}

async function searchByUser(stores: Stores, passbackUid: string): Promise<Result> {
  if (passbackUid === '' || passbackUid.length > TEXT_LENGTH_MAX)
    return { problem: `A passbackUid must have 1 to ${printCount(TEXT_LENGTH_MAX)} characters.` };
  const { count, newest } = await stores.history.findByPassbackUid(passbackUid, { limit: PAGE_SIZE });
  return { by: 'user', found: newest.map(foundVersion), count };
}

async function searchByTime(
  stores: Stores,
  organisations: readonly PublicOrganisation[],
  query: URLSearchParams,
): Promise<Result> {
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  if (org === undefined) return { problem: 'There is no such organisation.' };
  const [from, until] = [parseBound(query.get('from')), parseBound(query.get('until'))];
  if (from === 'invalid' || until === 'invalid')
    return { problem: 'A time must look like 2026-11-14T12:00:00.' };
  const cursor = parseUuid(query.get('cursor') ?? '');
  const window = { minMs: from ?? 0, maxMs: until ?? LATEST_MS };
  const page = await stores.transactions.page({ orgId: org.id, cursor, window, limit: PAGE_SIZE });
  const transactions = JSON.parse(`[${Buffer.from(page.data).toString()}]`) as Transaction[];
  const next = new URLSearchParams(query);
  if (page.cursor !== undefined) next.set('cursor', page.cursor);
  return {
    by: 'time',
    found: transactions.map((transaction) => ({ orgName: org.name, transaction })),
    pageSize: PAGE_SIZE,
    next: page.cursor === undefined ? undefined : next.toString(),
  };
}

function parseBound(text: string | null): number | undefined | 'invalid' {
  if (text === null || text.trim() === '') return undefined;
  return parseInstant(text.trim())?.ms ?? 'invalid';
}

function foundVersion({ orgName, document }: TransactionVersion): FoundTransaction {
  return { orgName, transaction: JSON.parse(document) as Transaction };
}
