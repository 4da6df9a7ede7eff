// Measures later pages of a walk relative to a first page of the same window: without changes since the walk began, after 1 %
// of the transactions have changed in one import or in many, and after all have changed; with and without a long history. The
// result is the 10th percentile, and unfiltered first pages alternate with all others, because a machine's speed varies.
//   npm run bench:walks -- [--rows 1000000] [--history 10000000] [--pages 200] [--databases sqlite,postgres]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import type { StampWindow, TransactionQuery } from '../service/src/domain/transaction.ts';
import type { Database } from '../service/src/storage/database.ts';
import { openDatabase, SERVER_OPTIONS } from '../service/src/storage/open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { POSTGRES_SQL } from '../service/src/storage/postgres/postgres-sql.ts';
import { newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';
import { percentile } from './percentile.ts';
import { SPAN_MS, seedTransactions, uuidV4 } from './random-transactions.ts';
import { table } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    history: { type: 'string', default: '10000000' },
    pages: { type: 'string', default: '200' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n`);

const LIMIT = 100;
const PAGES = Number(options.pages);
const SMALL_IMPORTS = 1_000;
const SHARE = 0.1;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const END_MS = Date.parse('2026-11-01T00:00:00Z');

const EVERYTHING: StampWindow = { minMs: -8.64e15, maxMs: 8.64e15 };
const WINDOWS: Readonly<Record<string, StampWindow>> = {
  everything: EVERYTHING,
  'three months, open': { minMs: END_MS - 90 * DAY_MS, maxMs: 8.64e15 },
  'a month, closed': { minMs: END_MS - 400 * DAY_MS, maxMs: END_MS - 370 * DAY_MS },
  'about 200 transactions': {
    minMs: END_MS - 100 * DAY_MS,
    maxMs: END_MS - 100 * DAY_MS + Math.round((SPAN_MS * 270) / Number(options.rows)),
  },
};

/** Changes made after a walk has begun, and the target for the ratio of a later page to a first page. */
interface Stage {
  readonly name: string;
  readonly target?: number;
  readonly change: (scene: Scene) => Promise<void>;
}

interface Scene {
  readonly database: Database;
  readonly stores: Stores;
  readonly orgId: number;
  /** All transaction ids, shuffled. */
  readonly ids: readonly Uuid[];
}

const STAGES: readonly Stage[] = [
  { name: 'nothing', target: 1.1, change: async () => {} },
  { name: '1 % in one import', target: 2, change: (scene) => importAgain(scene, firstOf(scene, 0.01)) },
  { name: 'everything, in one import', target: 4, change: (scene) => importAgain(scene, scene.ids) },
  { name: '1 % once more, in 1,000 imports', change: manySmallImports },
];

function firstOf({ ids }: Scene, share: number): readonly Uuid[] {
  return ids.slice(0, Math.round(share * ids.length));
}

async function manySmallImports(scene: Scene): Promise<void> {
  const ids = scene.ids.slice(Math.round(0.01 * scene.ids.length), Math.round(0.02 * scene.ids.length));
  const size = Math.ceil(ids.length / SMALL_IMPORTS);
  for (let i = 0; i < ids.length; i += size) await importAgain(scene, ids.slice(i, i + size));
}

/** Replaces each document with a different one of the same length. */
async function importAgain({ stores, orgId }: Scene, ids: readonly Uuid[]): Promise<void> {
  await stores.transactions.write(orgId, async (writer) => {
    for (let i = 0; i < ids.length; i += 2_000) {
      const stored = await writer.find(ids.slice(i, i + 2_000));
      await writer.put(
        [...stored.values()].map((before) => {
          const document = before.document.replace('CONFIRMED', 'DECLINED ');
          const [replaces, sale] = [JSON.parse(before.document), JSON.parse(document)];
          return { id: before.id, updatedAtMs: writer.stampMs, document, sale, replaces };
        }),
      );
    }
    await writer.advanceClock(writer.stampMs);
  });
}

/** Adds about the same number of old versions to each transaction, all replaced before any walk began. */
async function addHistory({ database, orgId }: Scene, versions: number, rows: number): Promise<void> {
  for (let round = 1; round <= Math.ceil(versions / rows); round++) {
    await database.write((connection) =>
      connection.all(
        `INSERT INTO history (id, until_stamp, org_id, from_stamp, document)
         SELECT id, updated_at - ($2 - 1) * 1000, org_id, updated_at - $2 * 1000, substr(document, 1, 60)
           FROM transactions WHERE org_id = $1`,
        orgId,
        round,
      ),
    );
  }
}

async function vacuum(database: Database): Promise<void> {
  await database.all(database.sql === POSTGRES_SQL ? 'VACUUM ANALYZE' : 'ANALYZE');
}

interface Taken {
  readonly ms: number;
  /** Relative to unfiltered first pages measured at the same time. */
  readonly inFirstPages: number;
}

/** Measures pages from the same cursors, after a warm-up. */
async function timePages(stores: Stores, query: Omit<TransactionQuery, 'cursor' | 'limit'>): Promise<Taken> {
  const random = new Random('bench', 'cursors');
  const spent: Record<'first' | 'asked', number[]> = { first: [], asked: [] };
  for (let i = -PAGES / 4; i < PAGES; i++) {
    const cursor = uuidV4(random);
    for (const [which, asked] of [
      ['first', { orgId: query.orgId, window: EVERYTHING }],
      ['asked', query],
    ] as const) {
      const startedMs = performance.now();
      await stores.transactions.page({ ...asked, cursor, limit: LIMIT });
      if (i >= 0) spent[which].push(performance.now() - startedMs);
    }
  }
  const ms = percentile(spent.asked, SHARE);
  return { ms, inFirstPages: ms / percentile(spent.first, SHARE) };
}

async function measure(name: string, url: string, rows: number, history: number): Promise<void> {
  let nowMs = END_MS + HOUR_MS;
  await (await openStores(url, CREATE_OPTIONS)).close();
  // The first organisation has 80 % of the rows.
  await seedTransactions(url, Math.round(rows / 0.8), END_MS, new Random('bench', rows));
  const database = openDatabase(url, COMMAND_OPTIONS);
  const writing = await openStores(url, COMMAND_OPTIONS, () => (nowMs += 1_000));
  const serving = await openStores(url, SERVER_OPTIONS);
  const [org] = await writing.organisations.list();
  const ids: Uuid[] = [];
  await writing.transactions.read(org?.id ?? 0, async (batch) => {
    for (const { id } of batch) ids.push(id);
  });
  const random = new Random('bench', 'shuffle');
  const order = new Map(ids.map((id) => [id, random.unit()]));
  ids.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  const scene: Scene = { database, stores: writing, orgId: org?.id ?? 0, ids };
  if (history > 0) await addHistory(scene, history, ids.length);
  await vacuum(database);

  const { orgId } = scene;
  const first = new Map<string, Taken>();
  for (const [window, stamps] of Object.entries(WINDOWS))
    first.set(window, await timePages(serving, { orgId, window: stamps }));
  for (const stage of STAGES) {
    await stage.change(scene);
    const cells = [name, ids.length.toLocaleString('en'), history.toLocaleString('en'), stage.name];
    for (const [window, stamps] of Object.entries(WINDOWS)) {
      const later = await timePages(serving, { orgId, window: stamps, asOfMs: END_MS });
      const ratio = later.inFirstPages / (first.get(window)?.inFirstPages ?? Number.NaN);
      cells.push(`${ratio.toFixed(1)} (${later.ms.toFixed(2)} ms)`);
    }
    print(`| ${[...cells, stage.target?.toFixed(1) ?? ''].join(' | ')} |`);
  }
  await serving.close();
  await writing.close();
  await database.close();
}

const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
try {
  const [head, line] = table(
    ['database', 'transactions', 'old versions', 'changed since', ...Object.keys(WINDOWS), 'target'],
    [],
  ).split('\n');
  print(`${head}\n${line}`);
  for (const name of options.databases.split(',')) {
    for (const history of new Set([0, Number(options.history)])) {
      const url = name === 'sqlite' ? `sqlite:${join(folder, `${history}.db`)}` : await newPostgresDatabase();
      await measure(name, url, Number(options.rows), history);
    }
  }
} finally {
  await stopPostgres();
  rmSync(folder, { recursive: true, force: true });
}
