// Measures the gain from a second worker. The load generator runs on the same two cores, so the result is requests per second
// of the service's own CPU time.

import { join } from 'node:path';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { fillCatalogue } from '../fill.ts';
import { makeRetailers, SMALL } from '../large-catalogue.ts';
import { runLoad } from '../load.ts';
import { bearer, issueTokens, startOfferbook } from '../offerbook.ts';
import { percentile } from '../percentile.ts';
import { ratio, table, whole } from '../table.ts';
import type { Report, Run } from '../topic.ts';

/** Enough connections for the kernel to distribute them evenly. */
const CONNECTIONS = 128;
const BOTH = '0,1';
/** Per worker, since each worker gets part of the requests and compiles its own code. */
const WARM_UP_S = 1;

interface Sample {
  readonly requestsPerS: number;
  readonly cores: number;
}

export async function workers({ folder, seconds, repeats }: Run): Promise<Report> {
  const databaseUrl = `sqlite:${join(folder, 'workers.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
  const org = await stores.organisations.create('bench');
  const { public: token } = await issueTokens(stores, org?.id ?? 0);
  await stores.close();
  const samples: Record<1 | 2, Sample[]> = { 1: [], 2: [] };
  for (let round = 0; round < repeats; round++) {
    for (const count of [1, 2] as const) {
      const args = ['--workers', String(count)];
      await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH });
      const load = {
        url: `${server.url}/v1/cashback-offers/`,
        headers: bearer(token, { 'Accept-Encoding': 'gzip' }),
        connections: CONNECTIONS,
        cores: BOTH,
      };
      await runLoad(load, count * WARM_UP_S);
      const before = await server.cpuSeconds();
      const { requestsPerS } = await runLoad(load, seconds);
      samples[count].push({ requestsPerS, cores: ((await server.cpuSeconds()) - before) / seconds });
    }
  }
  const median = (count: 1 | 2, of: (sample: Sample) => number) => percentile(samples[count].map(of), 0.5);
  const rate = (count: 1 | 2) => median(count, (it) => it.requestsPerS);
  const perCore = (count: 1 | 2) => median(count, (it) => it.requestsPerS / it.cores);
  // Compare per round, because both were measured within seconds of each other.
  const scaled = percentile(
    samples[1].map((one, round) => {
      const two = samples[2][round] ?? one;
      return (2 * (two.requestsPerS / two.cores)) / (one.requestsPerS / one.cores);
    }),
    0.5,
  );
  const row = (count: 1 | 2) => [
    ...[String(count), whole(rate(count)), median(count, (it) => it.cores).toFixed(2), whole(perCore(count))],
  ];
  return {
    findings: [
      {
        work: '`--workers 2` on two cores',
        target: 'at least 1.7 times the throughput of one worker',
        measured: `${ratio(scaled)} per CPU second; ${ratio(rate(2) / rate(1))} in total, with the load generator on the same two cores`,
        met: scaled >= 1.7,
      },
    ],
    details: [
      table(['workers', 'requests/s', 'cores used', 'requests per second of CPU time'], [row(1), row(2)]),
    ],
  };
}
