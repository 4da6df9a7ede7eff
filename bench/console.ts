// Measures the console over millions of transactions: how long its pages take on the first and on later loads, and how much
// the public port slows down while ten browsers have the console open.
//   npm run bench:console -- [--rows 10000000] [--databases sqlite,postgres] [--seconds 10] [--repeats 3]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { offer, retailer } from '../service/test/support/fixtures.ts';
import { freePort, newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';
import { fillCatalogue } from './fill.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { percentile } from './percentile.ts';
import { seedTransactions } from './random-transactions.ts';
import { milliseconds, ratio, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    seconds: { type: 'string', default: '10' },
    repeats: { type: 'string', default: '3' },
  },
});

const ROWS = Number(options.rows);
const BROWSERS = 10;
/** The refresh interval of the console's script. */
const REFRESH_MS = 10_000;
const PAGES = [
  '/',
  '/catalogue',
  '/imports',
  '/organisations',
  '/transactions',
  '/totals',
  '/clicks',
  '/errors',
];
const END_MS = Date.parse('2026-11-01T00:00:00Z');
/** Far below the server's capacity: this measures latency, not throughput. */
const REQUESTS_PER_S = 100;

const print = (text: string) => process.stdout.write(`${text}\n`);

async function timeOf(url: string): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text.slice(0, 200)}`);
  return performance.now() - startedMs;
}

/** 99th percentile of the latency of evenly spaced requests over this many seconds. */
async function p99Of({ url, headers }: Load, seconds: number): Promise<number> {
  const startedMs = performance.now();
  const times = await Promise.all(
    Array.from({ length: seconds * REQUESTS_PER_S }, async (_, i) => {
      await Bun.sleep(startedMs + (i * 1_000) / REQUESTS_PER_S - performance.now());
      const sentMs = performance.now();
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} returned ${response.status}`);
      return performance.now() - sentMs;
    }),
  );
  return percentile(times, 0.99);
}

interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens ten browsers, each on its own page, at different times. */
function openBrowsers(adminUrl: string): () => Promise<number[]> {
  const stopping = new AbortController();
  const times: number[] = [];
  const browsers = Array.from({ length: BROWSERS }, async (_, i) => {
    await Bun.sleep((i * REFRESH_MS) / BROWSERS);
    while (!stopping.signal.aborted) {
      times.push(await timeOf(adminUrl + PAGES[i % PAGES.length]));
      await Bun.sleep(stopping.signal.aborted ? 0 : REFRESH_MS);
    }
  });
  return async () => {
    stopping.abort();
    await Promise.race([Promise.all(browsers), Bun.sleep(REFRESH_MS)]);
    return times;
  };
}

async function measure(name: string, folder: string, databaseUrl: string): Promise<string[][]> {
  await (await openStores(databaseUrl, CREATE_OPTIONS)).close();
  const startedMs = performance.now();
  await seedTransactions(databaseUrl, ROWS, END_MS, new Random('console', ROWS));
  const stores = await openStores(databaseUrl);
  const retailers = Array.from({ length: 500 }, (_, i) =>
    retailer(i + 1, { cashbackOffers: [offer(10_000 + i)] }),
  );
  await fillCatalogue(stores, retailers);
  const [org] = await stores.organisations.list();
  const tokens = await issueTokens(stores, org?.id ?? 0);
  await stores.close();
  print(
    `${name}: ${whole(ROWS)} transactions created in ${whole((performance.now() - startedMs) / 1_000)} s`,
  );

  const adminPort = String(await freePort());
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  await using server = await startOfferbook(folder, databaseUrl, {
    args: ['--admin-port', adminPort, '--log-level', 'warn'],
    // The console's thread needs a second core.
    cores: '0,1',
  });
  const loads = {
    catalogue: { url: `${server.url}/v1/cashback-offers/`, headers: bearer(tokens.public) },
    transactions: { url: `${server.url}/v1/transactions/?limit=100`, headers: bearer(tokens.private) },
  };
  const rows: string[][] = [];
  const first = await timeOf(`${adminUrl}/totals`);
  const later: number[] = [];
  for (let i = 0; i < 20; i++) later.push(await timeOf(`${adminUrl}/totals`));
  rows.push([name, 'totals: first load', milliseconds(first), '']);
  rows.push([name, 'totals: slowest of 20 later loads', milliseconds(Math.max(...later)), '']);

  for (const [what, load] of Object.entries(loads)) {
    const closed: number[] = [];
    const opened: number[] = [];
    const pages: number[] = [];
    await p99Of(load, 3);
    for (let round = 0; round < Number(options.repeats); round++) {
      closed.push(await p99Of(load, Number(options.seconds)));
      const close = openBrowsers(adminUrl);
      opened.push(await p99Of(load, Number(options.seconds)));
      pages.push(...(await close()));
    }
    const [without, with_] = [percentile(closed, 0.5), percentile(opened, 0.5)];
    rows.push([name, `${what}: p99 without the console`, milliseconds(without), '']);
    rows.push([
      name,
      `${what}: p99 with the console open in ${BROWSERS} browsers`,
      milliseconds(with_),
      `${ratio(with_ / without)} times`,
    ]);
    rows.push([name, 'slowest console page meanwhile', milliseconds(Math.max(...pages)), '']);
  }
  return rows;
}

const folder = mkdtempSync(join(tmpdir(), 'offerbook-console-'));
try {
  const rows: string[][] = [];
  for (const name of options.databases.split(',')) {
    const url = name === 'sqlite' ? `sqlite:${join(folder, 'bench.db')}` : await newPostgresDatabase();
    rows.push(...(await measure(name, folder, url)));
  }
  print(table(['database', 'what', 'time', 'ratio'], rows));
} finally {
  await stopPostgres();
  rmSync(folder, { recursive: true, force: true });
}
