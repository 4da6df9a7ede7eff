// Shared by the importer tests: realistic rows, a fresh database, and its whole contents for comparison.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { importLinks } from '../../src/importer/import-links.ts';
import type { ImportReport, WholeFileOptions } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { temporaryFolder } from '../support/databases.ts';
import * as fixtures from '../support/fixtures.ts';

/** The current time in every test. */
export const NOW_MS = Date.UTC(2026, 10, 14, 12);
export const NOW = '2026-11-14T12:00:00';

const KINDS = { retailer: 1, offer: 2, coupon: 3, promotion: 4, transaction: 5 };

/** The nth id of a kind. Ids sort by their numbers. */
export function id(kind: keyof typeof KINDS, n: number): Uuid {
  return `0192d1a0-000${KINDS[kind]}-7000-8000-${n.toString(16).padStart(12, '0')}` as Uuid;
}

type Changes = Record<string, unknown>;

/** A retailer with one deal of each kind, all with the same number. */
export function retailer(n: number, changes: Changes = {}): Retailer {
  const deals = { cashbackOffers: [offer(n)], coupons: [coupon(n)], promotions: [promotion(n)] };
  return fixtures.retailer(n, { id: id('retailer', n), ...deals, ...changes });
}

export function offer(n: number, changes: Changes = {}) {
  return fixtures.offer(n, { id: id('offer', n), termsAndExclusions: 'Not on gift cards', ...changes });
}

export function coupon(n: number, changes: Changes = {}) {
  return fixtures.coupon(n, { id: id('coupon', n), ...VALIDITY, ...changes });
}

export function promotion(n: number, changes: Changes = {}) {
  return fixtures.promotion(n, { id: id('promotion', n), ...VALIDITY, ...changes });
}

const VALIDITY = {
  startDate: fixtures.timestamp('2026-03-01T00:00:00'),
  endDate: fixtures.timestamp('2026-06-01T00:00:00'),
};

export function transaction(n: number, changes: Changes = {}): Transaction {
  const times = { clickedAt: '2026-11-01T11:20:00', soldAt: '2026-11-01T12:00:00' };
  const row = { id: id('transaction', n), ...times, cashbackOfferId: id('offer', n), ...changes };
  return { updatedAt: fixtures.timestamp('2026-11-02T00:00:00'), ...fixtures.transaction(n, row as object) };
}

/** The row without some fields. */
export function without(row: object, ...fields: string[]): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));
}

export function ndjson(...rows: unknown[]): string {
  return rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
}

export interface TestBook {
  readonly stores: Stores;
  readonly org: Organisation;
  readonly otherOrg: Organisation;
}

const opened: Stores[] = [];

/** For `afterAll`. */
export async function closeBooks(): Promise<void> {
  for (const stores of opened.splice(0)) await stores.close();
}

/** A new database with two organisations. */
export async function newBook(clock = () => NOW_MS): Promise<TestBook> {
  const stores = await openStores(`sqlite:${temporaryFolder()}/test.db`, CREATE_OPTIONS, clock);
  opened.push(stores);
  const org = await stores.organisations.create('acme');
  const otherOrg = await stores.organisations.create('other');
  if (org === undefined || otherOrg === undefined) throw new Error('the names are taken');
  return { stores, org, otherOrg };
}

type Content = Parameters<typeof sourceFrom>[0];

export function loadCatalogue({ stores }: TestBook, content: Content, options: WholeFileOptions = {}) {
  return importCatalogue(stores.catalogue, sourceFrom(content), options);
}

export function loadLinks({ stores }: TestBook, content: Content, options: WholeFileOptions = {}) {
  return importLinks(stores.links, sourceFrom(content), options);
}

/** Imports transactions of the book's first organisation. */
export function loadTransactions(
  { stores, org }: TestBook,
  content: Content,
  options: TransactionImportOptions = {},
  clock = () => NOW_MS,
) {
  return importTransactions(stores, org, sourceFrom(content), clock, options);
}

/** Everything that an import can change: documents, revision, change clocks. */
export async function contentOf({ stores, org, otherOrg }: TestBook) {
  const retailers: string[] = [];
  const revision = await stores.catalogue.read(async (batch) => {
    retailers.push(...batch.map(({ document }) => document));
  });
  return {
    retailers,
    revision,
    transactions: await transactionsOf(stores, org),
    otherTransactions: await transactionsOf(stores, otherOrg),
  };
}

async function transactionsOf(stores: Stores, org: Organisation) {
  const documents: string[] = [];
  await stores.transactions.read(org.id, async (batch) => {
    documents.push(...batch.map(({ document }) => document));
  });
  const page = await stores.transactions.page({
    orgId: org.id,
    window: { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER },
    limit: 1,
  });
  return { documents, clockMs: page.completeThroughMs };
}

/** Returns the error of a failed import; throws if the import succeeds. */
export async function errorOf(run: Promise<ImportReport>): Promise<Error> {
  const outcome = await run.catch((error: unknown) => error);
  if (!(outcome instanceof Error)) throw new Error('the import succeeded');
  return outcome;
}

/** The message printed when an import rejects its file. */
export async function complaintOf(run: Promise<ImportReport>): Promise<string> {
  const error = await errorOf(run);
  if (!(error instanceof BadInput)) throw error;
  return error.message;
}

/** The row counts of a report that are not 0. */
export function countsOf({ read, added, changed, unchanged, withdrawn, invalid }: ImportReport) {
  const counts = Object.entries({ read, added, changed, unchanged, withdrawn, invalid });
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}
