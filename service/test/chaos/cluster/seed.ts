// The data of a scenario: organisations, a catalogue, transactions and tokens.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { digestToken, newTokenText, type TokenKind } from '../../../src/domain/access-token.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Organisation } from '../../../src/domain/organisation.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { importCatalogue } from '../../../src/importer/import-catalogue.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { offerbook } from '../../support/command.ts';
import { offer, retailer, transaction } from '../../support/fixtures.ts';
import { leakWatch } from '../../support/leak-watch.ts';
import { ndjson } from '../../support/test-node.ts';

/** Creates the organisation `acme` with transactions and tokens, and a catalogue. */
export async function seed(
  databaseUrl: string,
  retailers: readonly Retailer[] = retailersWith(300),
  transactions: readonly UnstampedTransaction[] = transactionsUpTo(2_000),
) {
  return await withStores(databaseUrl, async (stores) => {
    const org = await createOrganisation(stores, 'acme');
    await importCatalogue(stores.catalogue, sourceFrom(ndjson(retailers)), {});
    const rows = sourceFrom(ndjson(transactions));
    await importTransactions(stores, org, rows, systemClock, { allowEmpty: true });
    const tokens = {
      public: await issueToken(stores, org, 'public'),
      private: await issueToken(stores, org, 'private'),
    };
    return { databaseUrl, org, tokens };
  });
}

/** Opens the stores, creating the tables if necessary, and closes them after the work. */
export async function withStores<Result>(
  databaseUrl: string,
  work: (stores: Stores) => Promise<Result>,
): Promise<Result> {
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  return await work(stores).finally(() => stores.close());
}

export async function createOrganisation(stores: Stores, name: string): Promise<Organisation> {
  const org = await stores.organisations.create(name);
  if (org === undefined) throw new Error(`there is an organisation ${name} already`);
  return org;
}

export async function issueToken(
  stores: Stores,
  { id: orgId }: Pick<Organisation, 'id'>,
  kind: TokenKind = 'private',
): Promise<string> {
  const text = newTokenText(kind);
  leakWatch.noteToken(text);
  await stores.tokens.add({ orgId, kind, label: 'chaos', digest: digestToken(text), expiresAtMs: null });
  return text;
}

const OFFERS_OFFSET = 1_000_000;

/** The ids of their offers continue from retailer to retailer. */
export function retailersWith(offers: number, perRetailer = 1): Retailer[] {
  return Array.from({ length: offers / perRetailer }, (_, i) => {
    const own = Array.from({ length: perRetailer }, (_, j) => offer(OFFERS_OFFSET + i * perRetailer + j));
    return retailer(i + 1, { cashbackOffers: own });
  });
}

export function transactionsUpTo(last: number, first = 1): UnstampedTransaction[] {
  return Array.from({ length: last - first + 1 }, (_, i) => transaction(first + i));
}

/** Runs a command that must succeed; returns what it prints. */
export async function runCommand(args: readonly string[], databaseUrl: string, stdin = ''): Promise<string> {
  const env = { OFFERBOOK_DATABASE_URL: databaseUrl };
  const { code, stdout, stderr } = await offerbook(args, { env, stdin });
  if (code !== 0) throw new Error(`offerbook ${args.join(' ')} exited with ${code}: ${stderr}`);
  return stdout;
}
