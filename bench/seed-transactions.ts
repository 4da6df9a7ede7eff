// Fills a database with transactions for a benchmark, fast: indexes are dropped first and made again at the
// end. Three years of changes with busy days, a large import among them, ids of versions 4 and 7.

import { printTimestamp } from '../service/src/domain/timestamp.ts';
import { printTransaction } from '../service/src/domain/transaction.ts';
import type { Uuid } from '../service/src/domain/uuid.ts';
import type { Random } from '../service/src/sandbox/random.ts';
import { type Database, TRANSACTIONS } from '../service/src/storage/database.ts';

const DAY_MS = 86_400_000;
export const SPAN_MS = 3 * 365 * DAY_MS;
const BUSY_DAYS = 20;
const BATCH_SIZE = 5_000;

/** The share of the rows that each organisation has. */
export const SHARES = [0.8, 0.19, 0.01];

export async function seedTransactions(
  database: Database,
  rows: number,
  endMs: number,
  random: Random,
): Promise<void> {
  const indexes = await readIndexes(database);
  await database.write(async (connection) => {
    for (const { name } of indexes) await connection.all(`DROP INDEX ${name}`);
  });
  const busyDays = Array.from({ length: BUSY_DAYS }, () => endMs - Math.floor(random.unit() * SPAN_MS));
  const largeImportMs = endMs - Math.floor(SPAN_MS / 3);
  for (const [index, share] of SHARES.entries()) {
    const orgId = await createOrganisation(database, `org-${index + 1}`, endMs);
    const count = Math.round(rows * share);
    for (let done = 0; done < count; done += BATCH_SIZE) {
      const batch = Array.from({ length: Math.min(BATCH_SIZE, count - done) }, (_, i) => {
        const kind = random.unit();
        // A twentieth came with one import and share its stamp; a fifth fall on the busy days.
        const stampMs =
          kind < 0.05
            ? largeImportMs
            : kind < 0.25
              ? Math.min(
                  endMs,
                  (busyDays[(done + i) % BUSY_DAYS] ?? endMs) + Math.floor(random.unit() * DAY_MS),
                )
              : endMs - Math.floor(random.unit() * SPAN_MS);
        return row(orgId, stampMs, random);
      });
      await database.write((connection) => connection.putMany(TRANSACTIONS, batch));
    }
  }
  for (const { sql } of indexes) await database.write((connection) => connection.all(sql));
  // What autovacuum does by itself soon after so many rows have come in.
  await database.all(database.dialect === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE');
}

async function readIndexes(database: Database): Promise<{ name: string; sql: string }[]> {
  return database.all(
    database.dialect === 'sqlite'
      ? `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'transactions' AND sql IS NOT NULL`
      : `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename = 'transactions' AND indexname NOT LIKE '%_pkey'`,
  );
}

async function createOrganisation(database: Database, name: string, clockMs: number): Promise<number> {
  const [org] = await database.write((connection) =>
    connection.all<{ id: number }>(
      'INSERT INTO organisations (name, created_at, last_stamp) VALUES ($1, $2, $2) RETURNING id',
      name,
      clockMs,
    ),
  );
  return org?.id ?? 0;
}

function row(orgId: number, stampMs: number, random: Random): [Uuid, number, number, string, number] {
  const soldAtMs = stampMs - Math.floor(random.unit() * 30 * DAY_MS);
  const id = random.unit() < 0.5 ? uuidV4(random) : uuidV7(soldAtMs, random);
  const document = printTransaction(
    {
      id,
      country: 'DE',
      clickedAt: printTimestamp(soldAtMs - 600_000),
      soldAt: printTimestamp(soldAtMs),
      currencyCode: 'EUR',
      orderValue: Math.floor(random.unit() * 100_000) / 100,
      cashback: Math.floor(random.unit() * 1_000) / 100,
      activatedAt: null,
      passbackUid: `user-${Math.floor(random.unit() * 1e6)}`,
      passbackData: null,
      status: 'CONFIRMED',
      cashbackOfferId: uuidV4(random),
      couponId: null,
      promotionId: null,
    },
    printTimestamp(stampMs),
  );
  return [id, orgId, stampMs, document, 0];
}

export function uuidV4(random: Random): Uuid {
  return uuid(hex(random, 12), `4${hex(random, 3)}`, random);
}

/** Its first digits are a time, so that ids made at about the same time lie side by side. */
export function uuidV7(ms: number, random: Random): Uuid {
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
