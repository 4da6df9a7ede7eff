// Generates transactions for benchmarks: three years of changes with busy days and one large import, with UUIDs of versions 4
// and 7. Writes them to an import file, or directly to a new database, with its daily totals.

import { join } from 'node:path';
import type { Random } from '@offerbook/sandbox/random.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { printTransaction, type Status, type UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../service/src/domain/transaction.ts';
import type { Database } from '../service/src/storage/database.ts';
import { openDatabase } from '../service/src/storage/open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { POSTGRES_DIALECT } from '../service/src/storage/postgres/postgres-dialect.ts';
import { DailySums } from '../service/src/storage/stores/daily-totals.ts';
import { userKey } from '../service/src/storage/transactions/user-ids.ts';
import { openBulkInsert } from './bulk-insert.ts';

const SPAN_MS = 3 * 365 * DAY_MS;
/** Time of the last change. */
export const END_MS = Date.parse('2026-11-01T00:00:00Z');
const BUSY_DAYS = 20;
const BATCH_SIZE = 5_000;
/** Fraction of the rows that belong to each organisation. */
const SHARES = [0.8, 0.19, 0.01];

/** Fills a new database as if these transactions had been imported. */
export async function seedTransactions(
  url: string,
  rows: number,
  random: Random,
  userOf: (random: Random) => string = randomUser,
): Promise<void> {
  await (await openStores(url, CREATE_OPTIONS)).close();
  const stampsOf = new Map<number, Float64Array>();
  await withDatabase(url, async (database) => {
    for (const [index, stamps] of randomStamps(rows, random).entries())
      stampsOf.set(await createOrganisation(database, organisationName(index)), stamps);
  });
  const totals = new DailySums();
  // No other connection to the database may be open.
  const bulk = await openBulkInsert(url);
  for (const [orgId, stamps] of stampsOf) {
    for (let done = 0; done < stamps.length; done += BATCH_SIZE) {
      const batch = Array.from(stamps.subarray(done, done + BATCH_SIZE), (stampMs) => {
        const passbackUid = userOf(random);
        const { id, sale, document } = newTransaction(stampMs, random, passbackUid);
        totals.addSale(orgId, sale);
        return {
          ...{ id, org_id: orgId, updated_at: stampMs, document, import_id: null, source_updated_at: null },
          ...{ user_key: userKey(passbackUid), retailer_id: null },
        };
      });
      await bulk.insert(batch);
    }
  }
  await bulk.close();
  await withDatabase(url, async (database) => {
    await database.write((connection) => totals.store(connection));
    // Autovacuum does this soon after a bulk insert.
    await database.all(database.sql === POSTGRES_DIALECT ? 'VACUUM ANALYZE' : 'ANALYZE');
  });
}

async function withDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase(url, COMMAND_OPTIONS);
  await work(database);
  await database.close();
}

/** Writes an import file of one organisation's transactions; returns its path. */
export function writeHistory(folder: string, rows: number, random: Random): Promise<string> {
  const [stamps = new Float64Array()] = randomStamps(rows, random, [1]).map((all) => all.sort());
  const line = (i: number) => newTransaction(stamps[i] ?? 0, random, randomUser(random)).document;
  return writeLines(join(folder, 'history.ndjson'), rows, line);
}

/** Writes a file whose line `i` is `lineOf(i)`; returns its path. */
export async function writeLines(path: string, count: number, lineOf: (i: number) => string) {
  const sink = Bun.file(path).writer();
  for (let i = 0; i < count; i++) {
    sink.write(`${lineOf(i)}\n`);
    if (i % BATCH_SIZE === 0) await sink.flush();
  }
  await sink.end();
  return path;
}

/** The first organisation has most of the transactions. */
export function organisationName(index: number): string {
  return `org-${index + 1}`;
}

/** Unsorted stamps of each organisation's transactions. */
function randomStamps(rows: number, random: Random, shares = SHARES): Float64Array[] {
  const busyDays = Array.from({ length: BUSY_DAYS }, () => END_MS - Math.floor(random.unit() * SPAN_MS));
  const largeImportMs = END_MS - Math.floor(SPAN_MS / 3);
  return shares.map((share) =>
    new Float64Array(Math.round(rows * share)).map((_, i) => {
      const kind = random.unit();
      // 5 % come from one import and share its stamp; 20 % fall on busy days.
      if (kind < 0.05) return largeImportMs;
      return kind < 0.25
        ? Math.min(END_MS, (busyDays[i % BUSY_DAYS] ?? END_MS) + Math.floor(random.unit() * DAY_MS))
        : END_MS - Math.floor(random.unit() * SPAN_MS);
    }),
  );
}

async function createOrganisation(database: Database, name: string): Promise<number> {
  const [org] = await database.write((connection) =>
    connection.all<{ id: number }>(
      'INSERT INTO organisations (name, created_at, last_stamp, public_id) VALUES ($1, $2, $2, $3::uuid) RETURNING id',
      name,
      END_MS,
      newUuid(),
    ),
  );
  return org?.id ?? 0;
}

/** A random user; by default, one of a million. */
export function randomUser(random: Random, users = 1e6): string {
  return `user-${Math.floor(random.unit() * users)}`;
}

/** A window from one second to three years wide, log-uniform. Half of the windows have no upper bound. */
export function randomWindow(random: Random): StampWindow {
  const widthMs = Math.round(1_000 * (SPAN_MS / 1_000) ** random.unit());
  if (random.unit() < 0.5) return { minMs: END_MS - widthMs, maxMs: 8.64e15 };
  const minMs = END_MS - widthMs - Math.floor(random.unit() * (SPAN_MS - widthMs));
  return { minMs, maxMs: minMs + widthMs };
}

/** A UUID of version 4, or one of version 7 that was created at that time; by default, at any time. */
export function randomId(random: Random, createdMs = END_MS - Math.floor(random.unit() * SPAN_MS)): Uuid {
  return random.unit() < 0.5 ? uuidV4(random) : uuidV7(createdMs, random);
}

export function newTransaction(
  stampMs: number,
  random: Random,
  passbackUid: string,
  status: Status = 'CONFIRMED',
): { id: Uuid; sale: UnstampedTransaction; document: string } {
  const soldAtMs = stampMs - Math.floor(random.unit() * 30 * DAY_MS);
  const id = randomId(random, soldAtMs);
  const sale: UnstampedTransaction = {
    id,
    country: 'DE',
    clickedAt: printTimestamp(soldAtMs - 600_000),
    soldAt: printTimestamp(soldAtMs),
    currencyCode: 'EUR',
    orderValue: Math.floor(random.unit() * 100_000) / 100,
    cashback: Math.floor(random.unit() * 1_000) / 100,
    activatedAt: null,
    passbackUid,
    passbackData: null,
    status,
    cashbackOfferId: uuidV4(random),
    couponId: null,
    promotionId: null,
  };
  return { id, sale, document: printTransaction(sale, printTimestamp(stampMs)) };
}

export function uuidV4(random: Random): Uuid {
  return uuid(hex(random, 12), `4${hex(random, 3)}`, random);
}

/** Starts with a timestamp, so that ids created at about the same time are neighbours. */
function uuidV7(ms: number, random: Random): Uuid {
  return uuid(ms.toString(16).padStart(12, '0'), `7${hex(random, 3)}`, random);
}

function uuid(first12: string, third: string, random: Random): Uuid {
  return `${first12.slice(0, 8)}-${first12.slice(8)}-${third}-8${hex(random, 3)}-${hex(random, 12)}` as Uuid;
}

function hex(random: Random, digits: number): string {
  return Math.floor(random.unit() * 16 ** digits)
    .toString(16)
    .padStart(digits, '0');
}
