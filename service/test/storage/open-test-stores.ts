// Opens stores for a test and closes them when the test is over.

import { afterEach, expect } from 'bun:test';
import { join } from 'node:path';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { type AccessToken, digestToken, newTokenText } from '../../src/domain/access-token.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { StoredDocument } from '../../src/domain/stored-document.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { TransactionPage, TransactionQuery, TransactionWriter } from '../../src/domain/transaction.ts';
import type { ImportReport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import type { Database, DatabaseOptions } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { type TestDatabase, temporaryFolder } from '../support/databases.ts';
import { putDocuments } from '../support/put-documents.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

/**
 * Call this function once in a file or inside a `describe`: it registers a hook that closes what the tests have opened, after
 * each of them unless another hook is given. Missing databases are created.
 */
export function openTestStores(after = afterEach) {
  const opened: { close(): Promise<void> }[] = [];
  after(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  async function stores(url: string, options: DatabaseOptions = COMMAND_OPTIONS, clock?: Clock) {
    const stores = await openStores(url, { ...options, create: true }, clock);
    opened.push(stores);
    return stores;
  }

  function database(url: string, options: DatabaseOptions = COMMAND_OPTIONS): Database {
    const database = openDatabase(url, { ...options, create: true });
    opened.push(database);
    return database;
  }

  /**
   * Opens the stores of a new database with the organisation `acme`. Their clock is the clock of this machine; with a start, it
   * moves only if the test calls `pass`.
   */
  async function scene({ create }: Pick<TestDatabase, 'create'>, startMs?: number) {
    const url = await create();
    let passedMs = 0;
    const clock = () => (startMs ?? systemClock()) + passedMs;
    /** Returns the new time. */
    const pass = (ms: number) => {
      passedMs += ms;
      return clock();
    };
    const opened = await stores(url, COMMAND_OPTIONS, clock);
    const org = await newOrganisation(opened);
    return { url, stores: opened, org, orgId: org.id, clock, pass };
  }

  return { stores, database, scene };
}

export async function newOrganisation(stores: Stores, name = 'acme'): Promise<Organisation> {
  const organisation = await stores.organisations.create(name);
  if (organisation === undefined) throw new Error(`${name} is taken`);
  return organisation;
}

/** A document that starts with its id, like all stored documents. */
export function documentOf(id: Uuid, text: string): string {
  return JSON.stringify({ id, text });
}

/** The pages of a window, from the query's cursor on. */
export async function* pagesOf(stores: Stores, query: TransactionQuery): AsyncGenerator<TransactionPage> {
  let { cursor } = query;
  do {
    const page = await stores.transactions.page({ ...query, cursor });
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** The documents on a page. */
export function rowsOf<Row = Transaction>({ data }: Pick<TransactionPage, 'data'>): Row[] {
  return JSON.parse(`[${Buffer.from(data)}]`);
}

/** The `text` field of each document on a page. */
export function textsOf(page: Pick<TransactionPage, 'data'>): string[] {
  return rowsOf<{ text: string }>(page).map(({ text }) => text);
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

/** Makes a backup of an SQLite database without a spool, and returns its folder. */
export async function backUp(url: string, clock: Clock = systemClock): Promise<string> {
  const folder = temporaryFolder();
  const [target, spoolPath] = [join(folder, 'backup'), () => join(folder, 'spool.db')];
  await makeBackup({ url, target, spoolPath, isOurs: () => true, clock, version: '1.2.3' });
  return target;
}

export function issueToken(stores: Stores, orgId: number): Promise<AccessToken> {
  const digest = digestToken(newTokenText('private'));
  return stores.tokens.add({ orgId, kind: 'private', label: '', digest, expiresAtMs: null });
}

/** Imports rows into an organisation; without one, the rows need click ids. */
export function importRows(
  stores: Stores,
  org: Organisation | undefined,
  rows: readonly object[],
  clock: Clock = systemClock,
  options: TransactionImportOptions = {},
): Promise<ImportReport> {
  return importTransactions(stores, org, sourceFrom(ndjson(rows)), clock, options);
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

/** Runs work that is interrupted as soon as it calls its argument. */
export async function interrupted(work: (interrupt: () => never) => Promise<unknown>): Promise<void> {
  const interruption = new Error('interrupted');
  const interrupt = () => {
    throw interruption;
  };
  expect(await rejection(work(interrupt))).toBe(interruption);
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

/** What an import log says of an import that read nothing. */
export const NO_RESULT = {
  counts: { read: 0, added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0, invalid: 0 },
  ...{ fileDigest: null, problems: [], problemCount: 0, reason: null },
};

/** Auditor for tests that do not check the audit log. */
export const TEST_AUDITOR = { clock: systemClock, by: 'the test' };

/** Waits until `count` connections wait for a lock in this database. PostgreSQL only. */
export async function untilWaiting(database: Database, count: number): Promise<void> {
  const sql = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await until(async () => (await database.all(sql)).length >= count);
}
