// Measures the start of a server, the gain from a second worker, and the cost of eight.

import { freePort } from '../../service/test/support/postgres-server.ts';
import { LARGE, SMALL } from '../large-catalogue.ts';
import { runLoad } from '../load.ts';
import { BOTH_CORES, bearer, GZIP, prepareCatalogue, startOfferbook } from '../offerbook.ts';
import { median, megabytes, milliseconds, percentile, ratio } from '../table.ts';
import { atMost, type Finding, type Run } from '../topic.ts';

const STARTS = 9;
const START_MAX_MS = 300;
/** Enough connections for the kernel to distribute them evenly. */
const CONNECTIONS = 128;
/** Per worker, since each worker gets part of the requests and compiles its own code. */
const WARM_UP_S = 1;
const MANY = 8;
const MEMORY_MAX_BYTES = 450 * 2 ** 20;
const READY_RATIO_MAX = 1.3;

/** Measures the time from the start of `serve` to the first page, on an existing database. */
export async function start({ folder }: Run): Promise<Finding[]> {
  const { databaseUrl } = await prepareCatalogue(folder, SMALL);
  const startsMs: number[] = [];
  for (let count = 0; count < STARTS; count++) {
    await using server = await startOfferbook(folder, databaseUrl);
    startsMs.push(server.startedInMs);
  }
  const work = 'time until `serve` with 1,500 offers is ready';
  return [atMost(work, 'under', percentile(startsMs, 0.5), START_MAX_MS, milliseconds)];
}

/** The load generator runs on the same two cores, so the result is requests per second of the service's own CPU time. */
export async function workers({ folder, seconds, repeats }: Run): Promise<Finding[]> {
  const { databaseUrl, token } = await prepareCatalogue(folder, SMALL);
  const measure = async (count: number) => {
    const args = ['--workers', String(count)];
    await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH_CORES });
    const load = {
      url: `${server.url}/v1/cashback-offers/`,
      headers: bearer(token, GZIP),
      connections: CONNECTIONS,
      cores: BOTH_CORES,
    };
    await runLoad(load, count * WARM_UP_S);
    const before = await server.cpuSeconds();
    const { requestsPerS } = await runLoad(load, seconds);
    const cores = ((await server.cpuSeconds()) - before) / seconds;
    return { requestsPerS, perCore: requestsPerS / cores };
  };
  const rounds = await oneAndMany(measure, 2, repeats);
  const scaled = median(rounds, ({ one, many }) => (2 * many.perCore) / one.perCore);
  const total = median(rounds, ({ one, many }) => many.requestsPerS / one.requestsPerS);
  return [
    {
      work: '`--workers 2` on two cores',
      target: 'at least 1.7 × one worker',
      measured: `${ratio(scaled)} per CPU second; ${ratio(total)} in total, with the load generator on the same two cores`,
      met: scaled >= 1.7,
    },
  ];
}

/** Measures memory, and the time until all workers respond. */
export async function manyWorkers({ folder, repeats }: Run): Promise<Finding[]> {
  const { databaseUrl } = await prepareCatalogue(folder, LARGE);
  const measure = async (count: number) => {
    const startedAtMs = performance.now();
    const adminPort = await freePort();
    const args = ['--workers', String(count), '--admin-port', String(adminPort)];
    await using server = await startOfferbook(folder, databaseUrl, { args, cores: BOTH_CORES });
    const metrics = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    while (!(await metrics()).includes(`offerbook_workers_ready ${count}\n`)) await Bun.sleep(5);
    return { readyMs: performance.now() - startedAtMs, bytes: (await server.memoryBytes()).now };
  };
  const rounds = await oneAndMany(measure, MANY, Math.min(repeats, 3));
  const bytes = median(rounds, ({ many }) => many.bytes);
  const readyRatio = median(rounds, ({ one, many }) => many.readyMs / one.readyMs);
  return [
    {
      work: `\`--workers ${MANY}\` with 300,000 offers`,
      target: `under ${megabytes(MEMORY_MAX_BYTES)}; all ready within ${READY_RATIO_MAX} times the time of one worker`,
      measured: `${megabytes(bytes)}; ${ratio(readyRatio)} times`,
      met: bytes < MEMORY_MAX_BYTES && readyRatio <= READY_RATIO_MAX,
    },
  ];
}

/** Measures one worker and many in turn. Compare them per round, because both were measured within seconds of each other. */
async function oneAndMany<T>(measure: (workers: number) => Promise<T>, many: number, repeats: number) {
  const rounds: { one: T; many: T }[] = [];
  for (let round = 0; round < repeats; round++)
    rounds.push({ one: await measure(1), many: await measure(many) });
  return rounds;
}
