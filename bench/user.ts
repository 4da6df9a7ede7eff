// Measures pages of one user's transactions: of users with a few, and of one with 100,000; all of them, in random windows, and
// later pages of a walk after an import has changed 10,000 transactions. Also measures `transactions find`.
//   npm run bench:user -- [--rows 1000000] [--pages 500] [--databases sqlite,postgres]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { splitDocuments } from '../service/src/domain/stored-transaction.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import type { StampWindow } from '../service/src/domain/transaction.ts';
import { SERVER_OPTIONS } from '../service/src/storage/open-database.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { EVERYTHING } from '../service/test/storage/open-test-stores.ts';
import { newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';
import { putDocuments } from '../service/test/support/put-documents.ts';
import { percentile } from './percentile.ts';
import { randomUser, randomWindow, SHARES, seedTransactions, uuidV4 } from './random-transactions.ts';
import { table } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    pages: { type: 'string', default: '500' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
});
const ROWS = Number(options.rows);
const PAGES = Number(options.pages);
const LIMIT = 100;
const TARGET_P99_MS = 5;
const END_MS = Date.parse('2026-11-01T00:00:00Z');
const HEAVY = 'heavy';
/** In the first organisation, which has most of the transactions; a tenth of a small table. */
const HEAVY_ROWS = Math.min(100_000, ROWS / 10);
const CHANGED_ROWS = Math.min(10_000, ROWS / 20);

const userOf = (random: Random) =>
  random.unit() < HEAVY_ROWS / (ROWS * (SHARES[0] ?? 1)) ? HEAVY : randomUser(random);

const anyWindow = (random: Random): StampWindow => randomWindow(random, END_MS);

const CASES: readonly (readonly [name: string, user: typeof userOf, windowOf: typeof anyWindow])[] = [
  ['a user', (random) => randomUser(random), () => EVERYTHING],
  ['a user, any window', (random) => randomUser(random), anyWindow],
  [`${HEAVY_ROWS.toLocaleString('en')} transactions`, () => HEAVY, () => EVERYTHING],
  [`${HEAVY_ROWS.toLocaleString('en')} transactions, any window`, () => HEAVY, anyWindow],
];

async function measure(stores: Stores, orgId: number, asOfMs: number | undefined): Promise<string[][]> {
  const random = new Random('bench', 'user');
  const rows: string[][] = [];
  for (const [name, user, windowOf] of CASES) {
    const ms: number[] = [];
    let found = 0;
    // The first pages warm up the caches.
    for (let i = -PAGES / 10; i < PAGES; i++) {
      const cursor = random.unit() < 0.4 && asOfMs === undefined ? undefined : uuidV4(random);
      const window = windowOf(random);
      const startedMs = performance.now();
      const query = { orgId, passbackUid: user(random), window, cursor, limit: LIMIT, asOfMs };
      const { data } = await stores.transactions.page(query);
      if (i < 0) continue;
      ms.push(performance.now() - startedMs);
      found += data.length;
    }
    const shown = [0.5, 0.95, 0.99, 1].map((share) => `${percentile(ms, share).toFixed(2)} ms`);
    const kb = `${(found / PAGES / 1024).toFixed(1)} KB`;
    const isMet = percentile(ms, 0.99) < TARGET_P99_MS ? 'yes' : 'no';
    rows.push([asOfMs === undefined ? name : `${name}, later page`, kb, ...shown, isMet]);
  }
  return rows;
}

/** Changes random transactions of the organisation, as an import would. */
async function change(stores: Stores, orgId: number): Promise<void> {
  const random = new Random('bench', 'changes');
  const documents = new Map<Uuid, string>();
  while (documents.size < CHANGED_ROWS) {
    const query = { orgId, cursor: uuidV4(random), window: EVERYTHING, limit: LIMIT };
    const { data } = await stores.transactions.page(query);
    for (const { id, document } of splitDocuments(data)) documents.set(id, document);
  }
  await stores.transactions.write(orgId, async (writer) => {
    const rows = [...documents].map(([id, document]) => ({ id, document, updatedAtMs: writer.stampMs }));
    await putDocuments(writer, rows);
    await writer.advanceClock(writer.stampMs);
  });
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
try {
  for (const name of options.databases.split(',')) {
    const url = name === 'sqlite' ? `sqlite:${join(folder, 'user.db')}` : await newPostgresDatabase();
    await (await openStores(url, CREATE_OPTIONS)).close();
    await seedTransactions(url, ROWS, END_MS, new Random('bench', ROWS), { userOf });
    const stores = await openStores(url, { ...SERVER_OPTIONS, statementTimeoutMs: 0 });
    const [org] = await stores.organisations.list();
    const orgId = org?.id ?? 0;
    const rows = await measure(stores, orgId, undefined);
    await change(stores, orgId);
    rows.push(...(await measure(stores, orgId, END_MS)));
    const startedMs = performance.now();
    const { count } = await stores.history.findByPassbackUid(HEAVY, { limit: LIMIT });
    const searchMs = performance.now() - startedMs;
    await stores.close();
    print(`${name}, ${ROWS.toLocaleString('en')} transactions\n`);
    print(
      table(['pages of', 'mean size', 'median', 'p95', 'p99', 'max', `p99 under ${TARGET_P99_MS} ms`], rows),
    );
    print(
      `\nThe console's search counts ${count.toLocaleString('en')} transactions in ${searchMs.toFixed(0)} ms.\n`,
    );
  }
} finally {
  await stopPostgres();
  rmSync(folder, { recursive: true, force: true });
}
