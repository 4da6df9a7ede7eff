// Measures the time from the start of `serve` to the first page, on an existing database.

import { join } from 'node:path';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { fillCatalogue } from '../fill.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { startOfferbook } from '../offerbook.ts';
import { percentile } from '../percentile.ts';
import { milliseconds } from '../table.ts';
import type { Report, Run } from '../topic.ts';

const STARTS = 9;
const TARGET_MS = 300;

export async function start({ folder }: Run): Promise<Report> {
  const databaseUrl = `sqlite:${join(folder, 'start.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
  await stores.close();
  const startsMs: number[] = [];
  for (let count = 0; count < STARTS; count++) {
    await using server = await startOfferbook(folder, databaseUrl);
    startsMs.push(server.startedInMs);
  }
  const median = percentile(startsMs, 0.5);
  return {
    findings: [
      {
        work: 'time until `serve` with 1,500 offers is ready',
        target: `under ${TARGET_MS} ms`,
        measured: `${milliseconds(median)} (${milliseconds(Math.min(...startsMs))} – ${milliseconds(Math.max(...startsMs))})`,
        met: median < TARGET_MS,
      },
    ],
    details: [],
  };
}
