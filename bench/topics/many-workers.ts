// Measures the cost of eight workers compared with one: memory, and the time until all respond.

import { join } from 'node:path';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { freePort } from '../../service/test/support/postgres-server.ts';
import { fillCatalogue } from '../fill.ts';
import { LARGE, makeRetailers } from '../large-catalogue.ts';
import { startOfferbook } from '../offerbook.ts';
import { percentile } from '../percentile.ts';
import { megabytes, milliseconds, ratio, table } from '../table.ts';
import type { Report, Run } from '../topic.ts';

const MANY = 8;
const MEMORY_MAX_BYTES = 450 * 2 ** 20;
const READY_RATIO_MAX = 1.3;
const BOTH = '0,1';

interface Sample {
  readonly readyMs: number;
  readonly bytes: number;
}

export async function manyWorkers({ folder, repeats }: Run): Promise<Report> {
  const databaseUrl = `sqlite:${join(folder, 'many-workers.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  await fillCatalogue(stores, makeRetailers(LARGE, Date.now()));
  await stores.close();
  const samples: Record<number, Sample[]> = { 1: [], [MANY]: [] };
  for (let round = 0; round < Math.min(repeats, 3); round++) {
    for (const count of [1, MANY]) samples[count]?.push(await measure(folder, databaseUrl, count));
  }
  const median = (count: number, of: (sample: Sample) => number) =>
    percentile((samples[count] ?? []).map(of), 0.5);
  const readyRatio = median(MANY, (it) => it.readyMs) / median(1, (it) => it.readyMs);
  const bytes = median(MANY, (it) => it.bytes);
  const row = (count: number) => [
    ...[String(count), milliseconds(median(count, (it) => it.readyMs))],
    megabytes(median(count, (it) => it.bytes)),
  ];
  return {
    findings: [
      {
        work: `\`--workers ${MANY}\` with 300,000 offers`,
        target: `under ${megabytes(MEMORY_MAX_BYTES)}; all ready within ${READY_RATIO_MAX} times the time of one worker`,
        measured: `${megabytes(bytes)}; ${ratio(readyRatio)} times`,
        met: bytes < MEMORY_MAX_BYTES && readyRatio <= READY_RATIO_MAX,
      },
    ],
    details: [table(['workers', 'all ready after', 'process memory'], [row(1), row(MANY)])],
  };
}

async function measure(folder: string, databaseUrl: string, count: number): Promise<Sample> {
  const startedAtMs = performance.now();
  const adminPort = await freePort();
  const args = ['--workers', String(count), '--admin-port', String(adminPort)];
  await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH });
  const ready = `offerbook_workers_ready ${count}\n`;
  const metrics = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  while (!(await metrics()).includes(ready)) await Bun.sleep(5);
  return { readyMs: performance.now() - startedAtMs, bytes: (await server.memoryBytes()).now };
}
