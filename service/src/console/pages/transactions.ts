// Reads the data for the console's transactions page (the latest transactions, and searches by id, user or organisation) and for its
// page about one transaction.

import {
  type FoundTransaction,
  NO_SUCH_TRANSACTION,
  transactionsPage as render,
  transactionPage as renderOne,
  type SearchView,
  type ShownVersion,
} from '@offerbook/site/console/transactions-page.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { parseInstant } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { PublicOrganisation } from '../../domain/organisation.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TransactionVersion } from '../../domain/transaction.ts';
import { seeOther } from '../../http/reply.ts';
import { findOrganisation, type MakePage, type PageContext } from '../page-context.ts';

const PAGE_SIZE = 50;
const LATEST_MS = 8.64e15;

type Result = SearchView['result'];

/** Lists the latest transactions, or those of an organisation or a period. */
export const transactionsPage: MakePage = async (context) => {
  const stores = await context.stores();
  const organisations = await stores.organisations.list();
  const { query } = context;
  return render({
    nowMs: context.node.nowMs,
    organisations,
    entered: { org: query.get('org') ?? '', from: query.get('from') ?? '', until: query.get('until') ?? '' },
    isPosted: false,
    result: await listLatest(context, stores, organisations),
  });
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
  const org = findOrganisation(organisations, word);
  const user = await findUser(context, stores, text);
  if (org !== undefined && user.by === 'user' && user.count === 0)
    return seeOther(`/transactions?org=${org.publicId}`);
  return render({
    nowMs: context.node.nowMs,
    organisations,
    entered: { org: '', from: '', until: '' },
    isPosted: true,
    result: user.by === 'user' ? { ...user, org } : user,
  });
};

async function findUser(context: PageContext, stores: Stores, passbackUid: string): Promise<Result> {
  if (passbackUid === '' || passbackUid.length > TEXT_LENGTH_MAX)
    return { by: 'problem', words: `Enter 1 to ${printCount(TEXT_LENGTH_MAX)} characters.` };
  const { count, newest } = await stores.history.findByPassbackUid(passbackUid, { limit: PAGE_SIZE });
  return { by: 'user', found: await shown(context, stores, newest), count };
}

async function listLatest(
  context: PageContext,
  stores: Stores,
  organisations: readonly PublicOrganisation[],
): Promise<Result> {
  const { query } = context;
  const org = findOrganisation(organisations, query.get('org'));
  if (org === undefined && (query.get('org') ?? '') !== '')
    return { by: 'problem', words: 'There is no such organisation.' };
  const [from, until] = [parseBound(query.get('from')), parseBound(query.get('until'))];
  if (from === 'invalid' || until === 'invalid')
    return { by: 'problem', words: 'A time must look like 2026-11-14T12:00:00.' };
  const window = { minMs: from ?? 0, maxMs: until ?? LATEST_MS };
  const after = parsePlace(query.get('after'));
  // One more than shown, to know whether others follow.
  const latest = await stores.history.latest({ orgId: org?.id, window, after, limit: PAGE_SIZE + 1 });
  const versions = latest.slice(0, PAGE_SIZE);
  const last = latest.length > PAGE_SIZE ? versions.at(-1) : undefined;
  const next = new URLSearchParams(query);
  if (last !== undefined) next.set('after', `${last.fromMs}.${last.id}`);
  return {
    by: 'time',
    found: await shown(context, stores, versions),
    next: last === undefined ? undefined : next.toString(),
    isFirst: after === undefined,
  };
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

/** Adds the names of the retailers. */
async function shown(
  { catalogue }: PageContext,
  stores: Stores,
  versions: readonly TransactionVersion[],
): Promise<FoundTransaction[]> {
  const { retailers } = await catalogue.read(stores);
  const retailerOf = await stores.transactions.findRetailers(versions.map(({ id }) => id));
  return versions.map(({ id, orgName, document }) => {
    const transaction = JSON.parse(document) as Transaction;
    const retailerId = retailerOf.get(id);
    return { orgName, transaction, retailer: retailerId && retailers.get(retailerId) };
  });
}

export const transactionPage: MakePage = async ({ stores: openStores, parameters, catalogue }) => {
  const id = parseUuid(parameters.id ?? '');
  const stores = await openStores();
  const versions = id === undefined ? [] : await stores.history.versions(id);
  const shown = await withImports(stores, versions);
  const [current] = shown;
  if (current === undefined || versions[0] === undefined) return NO_SUCH_TRANSACTION;
  const { cashbackOfferId, couponId, promotionId } = current.transaction;
  const dealId = cashbackOfferId ?? couponId ?? promotionId;
  const { retailers, retailerOfDeal } = await catalogue.read(stores);
  const stored = await stores.transactions.findRetailers([current.transaction.id]);
  const retailerId = stored.get(current.transaction.id) ?? (dealId && retailerOfDeal.get(dealId));
  return renderOne({
    transaction: current.transaction,
    orgName: versions[0].orgName,
    retailer: retailerId ? (retailers.get(retailerId) ?? retailerId) : undefined,
    versions: shown,
  });
};

async function withImports(
  { imports }: Stores,
  versions: readonly TransactionVersion[],
): Promise<ShownVersion[]> {
  const found = new Map<number | null, ShownVersion['import']>();
  for (const id of new Set(versions.map(({ importId }) => importId)))
    found.set(id, id === null ? undefined : await imports.find(id));
  return versions.map(({ fromMs, untilMs, importId, document }) => ({
    transaction: JSON.parse(document) as Transaction,
    fromMs,
    untilMs,
    import: found.get(importId),
  }));
}
