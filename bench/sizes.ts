// Measures a server with catalogues of several sizes: memory, peak memory during a reload, startup time, and the delay from
// the commit of an import until the change is served.
//   npm run bench:sizes -- [--offers 3000,30000,100000,300000]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { freePort } from '../service/test/support/postgres-server.ts';
import { fillCatalogue } from './fill.ts';
import { LARGE, makeRetailers } from './large-catalogue.ts';
import { startOfferbook } from './offerbook.ts';
import { percentile } from './percentile.ts';
import { megabytes, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: { offers: { type: 'string', default: '3000,30000,100000,300000' } },
});
const IMPORTS = 5;
/** By then, the server has released the memory it needed for loading. */
const SETTLE_MS = 1_000;

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
    const databaseUrl = `sqlite:${join(folder, 'sizes.db')}`;
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    const bytes = await fillCatalogue(stores, makeRetailers(size, Date.now()));
    const adminPort = await freePort();
    const args = ['--admin-port', String(adminPort)];
    await using server = await startOfferbook(folder, databaseUrl, { args });
    await Bun.sleep(SETTLE_MS);
    const { now } = await server.memoryBytes();
    const revisionServed = async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return /^offerbook_catalogue_revision (\d+)$/m.exec(metrics)?.[1];
    };
    const reloadsMs: number[] = [];
    for (let round = 0; round < IMPORTS; round += 1) {
      const before = await revisionServed();
      await stores.catalogue.write((writer) => writer.markChanged());
      const committedAtMs = performance.now();
      while ((await revisionServed()) === before) await Bun.sleep(5);
      reloadsMs.push(performance.now() - committedAtMs);
    }
    const { peak } = await server.memoryBytes();
    await stores.close();
    return [
      whole(offers),
      megabytes(bytes),
      megabytes(now),
      megabytes(peak),
      `${(server.startedInMs / 1_000).toFixed(1)} s`,
      `${(percentile(reloadsMs, 0.5) / 1_000).toFixed(1)} s`,
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const rows: string[][] = [];
for (const offers of options.offers.split(',')) rows.push(await measure(Number(offers)));
const head = ['offers', 'file', 'memory', 'peak, during a reload', 'start', 'reloaded after a commit'];
process.stdout.write(`${table(head, rows)}\n`);
