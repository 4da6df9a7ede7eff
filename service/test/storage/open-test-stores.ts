// Opens stores for a test and closes them when the test is over.

import { afterEach } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import type { Organisation, PublicOrganisation } from '../../src/domain/organisation.ts';
import type { StoredDocument } from '../../src/domain/stored-document.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { TransactionPage, TransactionWriter } from '../../src/domain/transaction.ts';
import type { ImportReport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import type { Database, DatabaseOptions } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TestDatabase } from '../support/databases.ts';
import { putDocuments } from '../support/put-documents.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

/** Creates missing databases. */
export interface TestStores {
  stores(url: string, options?: DatabaseOptions, clock?: Clock): Promise<Stores>;
  database(url: string, options?: DatabaseOptions): Database;
  /** Opens the stores of a new database with the organisation `acme`. */
  scene(
    from: Pick<TestDatabase, 'create'>,
  ): Promise<{ url: string; stores: Stores; org: PublicOrganisation; orgId: number }>;
}

/** Call this function once in a file or inside a `describe`; it registers an `afterEach` hook. */
export function openTestStores(): TestStores {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
  const open: TestStores = {
    async stores(url, options = COMMAND_OPTIONS, clock) {
      const stores = await openStores(url, { ...options, create: true }, clock);
      opened.push(stores);
      return stores;
    },
    database(url, options = COMMAND_OPTIONS) {
      const database = openDatabase(url, { ...options, create: true });
      opened.push(database);
      return database;
    },
    async scene(from) {
      const url = await from.create();
      const stores = await open.stores(url);
      const org = await newOrganisation(stores);
      return { url, stores, org, orgId: org.id };
    },
  };
  return open;
}

export async function newOrganisation(stores: Stores, name = 'acme'): Promise<PublicOrganisation> {
  const organisation = await stores.organisations.create(name);
  if (organisation === undefined) throw new Error(`${name} is taken`);
  return organisation;
}

/** A document that starts with its id, like all stored documents. */
export function documentOf(id: Uuid, text: string): string {
  return JSON.stringify({ id, text });
}

/** The `text` field of each document on a page. */
export function textsOf({ data }: Pick<TransactionPage, 'data'>): string[] {
  const documents = JSON.parse(`[${Buffer.from(data)}]`) as { text: string }[];
  return documents.map(({ text }) => text);
}

/** Writes one transaction for each id, with a new stamp, and returns the stamp. */
export function writeTransactions(
  stores: Stores,
  orgId: number,
  ids: readonly Uuid[],
  text = 'v1',
  importId?: number,
): Promise<number> {
  const work = async (writer: TransactionWriter) => {
    const { stampMs } = writer;
    await putDocuments(
      writer,
      ids.map((id) => ({ id, document: documentOf(id, `${text} ${id} ${stampMs}`) })),
    );
    return stampMs;
  };
  return stores.transactions.write(orgId, work, importId);
}

/** Imports rows into an organisation; without one, the rows need click ids. */
export function importRows(
  stores: Stores,
  org: Organisation | undefined,
  rows: readonly object[],
  clock: Clock = systemClock,
  options: TransactionImportOptions = {},
): Promise<ImportReport> {
  return importTransactions(stores.transactions, org, sourceFrom(ndjson(rows)), clock, options);
}

export const EVERYTHING = { minMs: Number.MIN_SAFE_INTEGER, maxMs: Number.MAX_SAFE_INTEGER };

export async function readAllTransactions(stores: Stores, orgId: number): Promise<StoredDocument[]> {
  const all: StoredDocument[] = [];
  await stores.transactions.read(orgId, async (batch) => {
    all.push(...batch);
  });
  return all;
}

export async function readCatalogue(
  stores: Stores,
): Promise<{ revision: number; documents: StoredDocument[] }> {
  const documents: StoredDocument[] = [];
  const revision = await stores.catalogue.read(async (batch) => {
    documents.push(...batch.map(({ id, document }) => ({ id, document })));
  });
  return { revision, documents };
}

/** `count` new ids, in order. */
export function newIds(count: number): Uuid[] {
  return Array.from({ length: count }, newUuid).sort();
}

/** An id that ends with this number in hexadecimal. Ids sort by their numbers. */
export function idOf(number: number): Uuid {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}` as Uuid;
}

/** Returns the error that a promise was rejected with; throws if there is none. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error('the promise was not rejected with an error');
  return outcome;
}

/** Auditor for tests that do not check the audit log. */
export const TEST_AUDITOR = { clock: systemClock, by: 'the test' };

/** Waits until `count` connections wait for a lock in this database. PostgreSQL only. */
export async function untilWaiting(database: Database, count: number): Promise<void> {
  const sql = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await until(
    () => database.all(sql),
    (rows) => rows.length >= count,
  );
}
