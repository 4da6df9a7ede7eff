// Measures catalogues of several sizes: imports, startup, memory, and reloads of a running server with their effect on requests.
//   npm run bench:sizes -- [--offers 3000,30000,100000,300000] [--reloads 5]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printRetailer } from '@offerbook/wire/catalogue.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { freePort } from '../service/test/support/postgres-server.ts';
import { type CatalogueSize, LARGE, makeRetailers } from './large-catalogue.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { percentile } from './percentile.ts';
import type { Server } from './server.ts';
import { megabytes, milliseconds, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    offers: { type: 'string', default: '3000,30000,100000,300000' },
    reloads: { type: 'string', default: '5' },
  },
});
/** By then, the server has released the memory it needed for loading. */
const SETTLE_MS = 2_000;
const REQUESTS_PER_S = 100;
const PATHS = ['/v1/cashback-offers/', '/v1/retailers/', '/v1/coupons/', '/v1/promotions/'];
const BOTH_CORES = '0,1';

async function measure(offers: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-sizes-'));
  try {
    const factor = offers / LARGE.offers;
    const size = {
      retailers: Math.round(LARGE.retailers * factor),
      offers,
      coupons: Math.round(LARGE.coupons * factor),
      promotions: Math.round(LARGE.promotions * factor),
    };
    // The second file changes one retailer in a hundred.
    const files = [await write(folder, size, 'A'), await write(folder, size, 'B')];
    const databaseUrl = `sqlite:${join(folder, 'sizes.db')}`;
    const importFile = (round: number) => runImport(databaseUrl, files[round % 2] ?? '');
    const firstImportMs = await importFile(0);
    const sameImportMs = await importFile(0);
    const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
    const org = await stores.organisations.create('bench');
    const { public: token } = await issueTokens(stores, org?.id ?? 0);
    await stores.close();
    const adminPort = await freePort();
    const args = ['--admin-port', String(adminPort)];
    await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH_CORES });
    await Bun.sleep(SETTLE_MS);
    const { peak: startPeak } = await server.memoryBytes();
    const load = new SteadyLoad(server, token);
    await load.during(async () => await Bun.sleep(SETTLE_MS));
    const beforeMs = load.takeLatencies();
    const { now: atRest } = await server.memoryBytes();
    await server.forgetPeak();
    const importingMs: number[] = [];
    const reloadingMs: number[] = [];
    const reloadsMs: number[] = [];
    for (let round = 1; round <= Number(options.reloads); round += 1) {
      const before = await revisionServed(adminPort);
      await load.during(() => importFile(round));
      importingMs.push(...load.takeLatencies());
      const committedAtMs = performance.now();
      await load.during(async () => {
        while ((await revisionServed(adminPort)) === before) await Bun.sleep(5);
        reloadsMs.push(performance.now() - committedAtMs);
        // The first requests after the swap are part of the reload.
        await Bun.sleep(SETTLE_MS / 4);
      });
      reloadingMs.push(...load.takeLatencies());
    }
    const { peak } = await server.memoryBytes();
    return [
      ...[whole(offers), megabytes(Bun.file(files[0] ?? '').size)],
      ...[seconds(firstImportMs), seconds(sameImportMs), seconds(server.startedInMs)],
      ...[megabytes(atRest), megabytes(startPeak), megabytes(peak)],
      seconds(percentile(reloadsMs, 0.5)),
      ...[beforeMs, importingMs, reloadingMs].map((each) => milliseconds(percentile(each, 0.99))),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function write(folder: string, size: CatalogueSize, version: string): Promise<string> {
  const path = join(folder, `${version}.ndjson`);
  const file = Bun.file(path).writer();
  let count = 0;
  for (const retailer of makeRetailers(size, Date.now())) {
    const name = count++ % 100 === 0 ? `${retailer.name} ${version}` : retailer.name;
    file.write(`${printRetailer({ ...retailer, name })}\n`);
  }
  await file.end();
  return path;
}

/** Runs the import as an operator does, in its own process. */
async function runImport(databaseUrl: string, file: string): Promise<number> {
  const startedAtMs = performance.now();
  const child = Bun.spawn([COMMAND, 'import', 'catalogue', file, '--database', databaseUrl], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if ((await child.exited) !== 0) throw new Error('the import failed');
  return performance.now() - startedAtMs;
}

async function revisionServed(adminPort: number): Promise<string | undefined> {
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return /^offerbook_catalogue_revision (\d+)$/m.exec(metrics)?.[1];
}

/** Sends a fixed number of requests per second for pages at random cursors, and measures each. */
class SteadyLoad {
  readonly #server: Server;
  readonly #headers: Record<string, string>;
  #latenciesMs: number[] = [];

  constructor(server: Server, token: string) {
    this.#server = server;
    this.#headers = bearer(token, { 'Accept-Encoding': 'gzip' });
  }

  async during(work: () => Promise<unknown>): Promise<void> {
    const pending = new Set<Promise<void>>();
    let count = 0;
    const timer = setInterval(() => {
      const request = this.#request(PATHS[count++ % PATHS.length] ?? '').finally(() =>
        pending.delete(request),
      );
      pending.add(request);
    }, 1_000 / REQUESTS_PER_S);
    await work();
    clearInterval(timer);
    await Promise.all(pending);
  }

  takeLatencies(): number[] {
    return this.#latenciesMs.splice(0);
  }

  async #request(path: string): Promise<void> {
    const startedAtMs = performance.now();
    const response = await fetch(`${this.#server.url}${path}?cursor=${crypto.randomUUID()}`, {
      headers: this.#headers,
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} returned ${response.status}`);
    this.#latenciesMs.push(performance.now() - startedAtMs);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const rows: string[][] = [];
for (const offers of options.offers.split(',')) rows.push(await measure(Number(offers)));
const head = [
  ...[
    'offers',
    'file',
    'import',
    'the same file again',
    'start',
    'memory',
    'peak at start',
    'peak during reloads',
  ],
  ...['reloaded after a commit', 'p99 at rest', 'p99 during an import', 'p99 during a reload'],
];
process.stdout.write(`${table(head, rows)}\n`);
