// Fills databases for the benchmarks: Offerbook's through its stores, and the tables of the plain implementation.

import { Database as SqliteFile } from 'bun:sqlite';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { digestToken } from '../service/src/domain/access-token.ts';
import type { Stores } from '../service/src/domain/stores.ts';

const BATCH_SIZE = 500;

/** Returns the total bytes of all documents: the size of the serialised catalogue. */
export async function fillCatalogue(stores: Stores, retailers: Iterable<Retailer>): Promise<number> {
  let bytes = 0;
  await stores.catalogue.write(async (writer) => {
    const batch: { id: Retailer['id']; document: string }[] = [];
    for (const retailer of retailers) {
      const document = printRetailer(retailer);
      bytes += Buffer.byteLength(document);
      batch.push({ id: retailer.id, document });
      if (batch.length === BATCH_SIZE) await writer.put(batch.splice(0));
    }
    await writer.put(batch);
    await writer.markChanged();
  });
  return bytes;
}

const TRANSACTION_COLUMNS = [
  ...['id', 'country', 'clickedAt', 'soldAt', 'updatedAt', 'currencyCode', 'orderValue', 'cashback'],
  ...['activatedAt', 'passbackUid', 'passbackData', 'status', 'cashbackOfferId', 'couponId', 'promotionId'],
] as const satisfies readonly (keyof Transaction)[];

const PLAIN_SCHEMA = [
  'CREATE TABLE tokens (digest TEXT PRIMARY KEY)',
  'CREATE TABLE retailers (id TEXT PRIMARY KEY, name TEXT, url TEXT, logo TEXT)',
  `CREATE TABLE cashback_offers (
     id TEXT PRIMARY KEY, retailer_id TEXT REFERENCES retailers (id), featured INTEGER, countries TEXT,
     cashback_percentage REAL, maximum_fixed_commission_fee REAL, description TEXT, category TEXT,
     terms_and_exclusions TEXT)`,
  `CREATE TABLE transactions (orgId INTEGER, ${TRANSACTION_COLUMNS.join(', ')}, PRIMARY KEY (orgId, id))`,
  'CREATE INDEX transactions_by_update ON transactions (orgId, updatedAt)',
];

/** Creates an empty database without crash safety, because it can be rebuilt. */
export function createPlainDatabase(path: string, tokens: readonly string[]): SqliteFile {
  const file = new SqliteFile(path, { create: true, strict: true });
  file.run('PRAGMA journal_mode = WAL');
  file.run('PRAGMA synchronous = OFF');
  for (const statement of PLAIN_SCHEMA) file.run(statement);
  for (const token of tokens) file.run('INSERT INTO tokens VALUES (?1)', [digestToken(token)]);
  return file;
}

export function fillPlainCatalogue(file: SqliteFile, retailers: Iterable<Retailer>): void {
  const addRetailer = file.prepare('INSERT INTO retailers VALUES (?1, ?2, ?3, ?4)');
  const addOffer = file.prepare('INSERT INTO cashback_offers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)');
  file.transaction(() => {
    for (const { id: retailerId, name, url, logo, cashbackOffers } of retailers) {
      addRetailer.run(retailerId, name, url, logo);
      for (const offer of cashbackOffers) {
        addOffer.run(
          ...[offer.id, retailerId, Number(offer.featured), JSON.stringify(offer.countries)],
          ...[offer.cashbackPercentage, offer.maximumFixedCommissionFee, offer.description],
          ...[offer.category, offer.termsAndExclusions],
        );
      }
    }
  })();
}

/** Copies one organisation's transactions. Rows are stored in order of arrival, as in a table that has grown over time. */
export function fillPlainTransactions(file: SqliteFile, sourcePath: string, orgId: number): void {
  const fields = TRANSACTION_COLUMNS.map((name) => `document ->> '${name}'`).join(', ');
  file.run('ATTACH ?1 AS source', [sourcePath]);
  file.run(
    `INSERT INTO transactions SELECT org_id, ${fields} FROM source.transactions WHERE org_id = ?1 ORDER BY updated_at`,
    [orgId],
  );
}
