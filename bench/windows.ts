// Measures pages of transactions for random windows, from one second to everything, on tables of several sizes and both
// databases, relative to an unfiltered page of the same run. Then measures the import of 10,000 changes.
//   npm run bench:windows -- [--rows 1000000,10000000] [--pages 1000] [--databases sqlite,postgres]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import type { TransactionQuery } from '../service/src/domain/transaction.ts';
import { SERVER_OPTIONS } from '../service/src/storage/open-database.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { EVERYTHING } from '../service/test/storage/open-test-stores.ts';
import { newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';
import { importChanges } from './import-changes.ts';
import { percentile } from './percentile.ts';
import { randomCursor, randomWindow, SPAN_MS, seedTransactions, uuidV4 } from './random-transactions.ts';
import { type Series, scatterPlot } from './scatter-plot.ts';

const LIMIT = 100;
const CHANGED_ROWS = 10_000;
const END_MS = Date.parse('2026-11-01T00:00:00Z');
const COLOURS = ['#3b82f6', '#f97316', '#10b981', '#a855f7'];
const PLOT = join(import.meta.dir, '..', 'docs', 'images', 'windows.svg');

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000,10000000' },
    pages: { type: 'string', default: '1000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
});

interface Measured {
  readonly widthMs: number;
  readonly ms: number;
}

function randomQuery(random: Random, orgs: readonly number[]): { query: TransactionQuery; widthMs: number } {
  const { widthMs, ...window } = randomWindow(random, END_MS);
  const cursor = randomCursor(random, END_MS);
  const orgId = orgs[Math.floor(random.unit() * orgs.length)] ?? 0;
  return { query: { orgId, cursor, limit: LIMIT, window }, widthMs };
}

interface Measurements {
  readonly unfilteredMs: number[];
  /** Later pages of a walk over everything, read as of its first page. */
  readonly laterMs: number[];
  readonly windows: Measured[];
}

async function measure(url: string, pages: number): Promise<Measurements> {
  const stores = await openStores(url, SERVER_OPTIONS);
  const orgs = (await stores.organisations.list()).map(({ id }) => id);
  const random = new Random('bench', 7);
  const timed = async (query: TransactionQuery) => {
    const startedMs = performance.now();
    await stores.transactions.page(query);
    return performance.now() - startedMs;
  };
  const unfilteredMs: number[] = [];
  const laterMs: number[] = [];
  const begun = { ...EVERYTHING, maxMs: END_MS - 60_000 };
  const windows: Measured[] = [];
  // The first pass warms up the caches; this benchmark does not measure a cold start.
  for (const isWarm of [false, true]) {
    for (let i = 0; i < (isWarm ? pages : pages / 10); i++) {
      const { query, widthMs } = randomQuery(random, orgs);
      const unfiltered = await timed({ ...query, cursor: uuidV4(random), window: EVERYTHING });
      const later = await timed({ ...query, cursor: uuidV4(random), window: begun });
      const ms = await timed(query);
      if (isWarm) {
        unfilteredMs.push(unfiltered);
        laterMs.push(later);
        windows.push({ widthMs, ms });
      }
    }
  }
  await stores.close();
  return { unfilteredMs, laterMs, windows };
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
const series: Series[] = [];
print(
  '| database | rows | built in | unfiltered median | later page of a walk | window median | p95 | p99 | max | p99 / unfiltered median | 10,000 changes imported in |',
);
print('|---|---|---|---|---|---|---|---|---|---|---|');
try {
  for (const name of options.databases.split(',')) {
    for (const rows of options.rows.split(',').map(Number)) {
      const url = name === 'sqlite' ? `sqlite:${join(folder, `${rows}.db`)}` : await newPostgresDatabase();
      await (await openStores(url, CREATE_OPTIONS)).close();
      const startedMs = performance.now();
      await seedTransactions(url, rows, END_MS, new Random('bench', rows));
      const builtS = (performance.now() - startedMs) / 1000;
      const { unfilteredMs, laterMs, windows } = await measure(url, Number(options.pages));
      const changesS = await importChanges(url, folder, CHANGED_ROWS);
      const ms = windows.map((it) => it.ms);
      const median = percentile(unfilteredMs, 0.5);
      const shown = [
        median,
        percentile(laterMs, 0.5),
        ...[0.5, 0.95, 0.99, 1].map((share) => percentile(ms, share)),
      ].map((it) => `${it.toFixed(2)} ms`);
      print(
        `| ${name} | ${rows.toLocaleString('en')} | ${builtS.toFixed(0)} s | ${shown.join(' | ')} | ${(percentile(ms, 0.99) / median).toFixed(1)} | ${changesS.toFixed(1)} s |`,
      );
      series.push({
        name: `${name}, ${rows.toLocaleString('en')} rows`,
        colour: COLOURS[series.length % COLOURS.length] ?? '#888',
        points: windows.map((it) => [it.widthMs, Math.min(100, Math.max(0.1, it.ms))] as const),
      });
    }
  }
  const x = {
    label: 'width of the window',
    ticks: [
      [1e3, '1 s'],
      [6e4, '1 min'],
      [3.6e6, '1 h'],
      [8.64e7, '1 day'],
      [2.6e9, '1 month'],
      [SPAN_MS, '3 years'],
    ] as const,
  };
  const y = {
    label: 'time for a page of 100',
    ticks: [
      [0.1, '0.1 ms'],
      [1, '1 ms'],
      [10, '10 ms'],
      [100, '100 ms'],
    ] as const,
  };
  await Bun.write(PLOT, scatterPlot('A page of transactions, by the width of its window', x, y, series));
  print(`\nPlot: ${PLOT}`);
} finally {
  await stopPostgres();
  rmSync(folder, { recursive: true, force: true });
}
