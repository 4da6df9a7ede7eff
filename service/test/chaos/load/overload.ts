// Overload: measures the peak throughput of the service, then sends requests at three times that rate. The service must handle
// as many requests as it can, reject the rest, stay within its memory, and recover.

import postgres from 'postgres';
import { until } from '../../support/until.ts';
import { LoadedService, type Seeded, seed } from '../cluster/loaded-service.ts';
import type { Run } from '../report/run.ts';
import { HttpConnection } from '../traffic/http-connection.ts';
import { closedLoop, forMs, openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';
import {
  addFigures,
  MEMORY_MAX_MB,
  requireAnswered,
  requireWhenIdle,
  untilAsUsual,
  watchService,
} from './figures.ts';

/** Number of connections that keep the service busy; CONNECTIONS_MAX is the limit during overload. */
const CONNECTIONS = 64;
const CONNECTIONS_MAX = 1_000;
const FACTOR = 3;
const GOODPUT_MIN = 0.9;
const LIVEZ_P99_MAX_MS = 1_000;
const RECOVERY_MAX_MS = 5_000;
/** The documented limit for a 503. */
const UNAVAILABLE_WITHIN_MS = 2_000;
const STUCK_REQUESTS = 1_000;

const KINDS: readonly { readonly name: string; readonly requests: (seeded: Seeded) => Uint8Array[] }[] = [
  { name: 'catalogue', requests: ({ catalogueRequest }) => [catalogueRequest] },
  { name: 'transactions', requests: ({ transactionsRequest }) => [transactionsRequest] },
  { name: 'both', requests: (seeded) => [seeded.catalogueRequest, seeded.transactionsRequest] },
];

export async function overload(run: Run): Promise<void> {
  const kinds = run.choose('requests', KINDS, ({ name }) => name);
  const overloadMs = (run.minutes * 60_000) / kinds.length;
  const peakMs = Math.min(5_000, overloadMs / 2);
  for (const { name, requests } of kinds) {
    const seeded = await seed(await run.database.create());
    await using service = await LoadedService.start(seeded);
    await overloadWith(run, `overload, ${name}`, service, seeded, requests(seeded), peakMs, overloadMs);
  }
  if (run.database.name === 'PostgreSQL') await waitForStuckDatabase(run);
}

async function overloadWith(
  run: Run,
  part: string,
  service: LoadedService,
  seeded: Seeded,
  requests: readonly Uint8Array[],
  peakMs: number,
  overloadMs: number,
): Promise<void> {
  const { url } = service;
  await closedLoop({ url, requests, isOver: forMs(peakMs / 2) }, CONNECTIONS);
  const peak = await closedLoop({ url, requests, isOver: forMs(peakMs) }, CONNECTIONS);
  const peakPerSecond = peak.count(200) / (peakMs / 1000);
  const watch = watchService(service);
  const tally = await openLoop(
    { url, requests, isOver: forMs(overloadMs) },
    peakPerSecond * FACTOR,
    CONNECTIONS_MAX,
  );
  const endedAtMs = performance.now();
  await untilAsUsual(service, seeded);
  const recoveryMs = Math.round(performance.now() - endedAtMs);
  const { livez, memoryMb } = await watch.stop();
  const goodPerSecond = tally.count(200) / (overloadMs / 1000);
  const livezP99Ms = Math.round(livez.percentileMs(0.99));
  const { statuses, failures, unsent } = tally;
  addFigures(run, part, {
    'requests/s, peak and in overload': [peakPerSecond, goodPerSecond].map(Math.round),
    statuses,
    'due but unsent': unsent,
    '/livez, p99 in ms': livezP99Ms,
    'recovery, ms': recoveryMs,
    'memory, MB': memoryMb,
  });
  const others = Object.keys(statuses).filter((status) => status !== '200' && status !== '503');
  run.require(`${part}: statuses are 200 or 503`, others.length === 0 && tally.count(200) > 0, statuses);
  run.require(`${part}: no connection is closed without a response`, tally.failed === 0, failures);
  run.require(`${part}: /livez responds`, livez.failed === 0 && livez.answered > 0, livez.failures);
  run.require(`${part}: memory is bounded`, memoryMb <= MEMORY_MAX_MB, memoryMb);
  const goodput = goodPerSecond / peakPerSecond;
  requireWhenIdle(run, `${part}: goodput is at least 90 % of the peak`, goodput >= GOODPUT_MIN, goodput);
  requireWhenIdle(run, `${part}: /livez is fast`, livezP99Ms <= LIVEZ_P99_MAX_MS, livezP99Ms);
  requireWhenIdle(run, `${part}: recovery takes at most 5 s`, recoveryMs <= RECOVERY_MAX_MS, recoveryMs);
}

type StuckTally = Tally & { overloaded: number };

/** Requests that wait for a locked table are rejected before it is unlocked; catalogue requests are not affected. */
async function waitForStuckDatabase(run: Run): Promise<void> {
  const part = 'stuck database';
  const databaseUrl = await run.database.create();
  const seeded = await seed(databaseUrl);
  await using service = await LoadedService.start(seeded);
  const waiting: StuckTally = Object.assign(new Tally(), { overloaded: 0 });
  const catalogue = new Tally();
  const blocker = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await blocker.begin(async (sql) => {
      await sql`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
      let isOver = false;
      const polling = closedLoop(
        {
          url: service.url,
          requests: [seeded.catalogueRequest],
          isOver: () => isOver,
          tally: catalogue,
        },
        4,
      );
      try {
        for (let sent = 0; sent < STUCK_REQUESTS; sent++) void waitOnce(service, seeded, waiting);
        // Without a limit for the queue, a request would wait for the timeouts of all requests before it.
        await until(
          () => waiting.answered + waiting.failed,
          (count) => count === STUCK_REQUESTS,
        );
      } finally {
        isOver = true;
        await polling;
      }
    });
  } finally {
    await blocker.end({ timeout: 1 });
  }
  await untilAsUsual(service, seeded);
  const slowestMs = Math.round(waiting.percentileMs(1));
  addFigures(run, part, { statuses: waiting.statuses, 'slowest 503, ms': slowestMs });
  run.require(`${part}: all get 503`, waiting.count(503) === STUCK_REQUESTS, waiting.statuses);
  // The queue rejects them, not the deadline of the database: no work was done for them.
  run.require(`${part}: most are rejected by the queue`, waiting.overloaded > STUCK_REQUESTS / 2, waiting);
  requireAnswered(run, `${part}, catalogue`, catalogue);
  requireWhenIdle(run, `${part}: a 503 comes within 2 s`, slowestMs <= UNAVAILABLE_WITHIN_MS, slowestMs);
  run.require(`${part}: memory is bounded`, service.memoryMb <= MEMORY_MAX_MB, service.memoryMb);
}

async function waitOnce({ url }: LoadedService, seeded: Seeded, tally: StuckTally): Promise<void> {
  try {
    using connection = await HttpConnection.open(url);
    const startedAtMs = performance.now();
    const outcome = await connection.exchange(seeded.transactionsRequest, 'GET');
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    const { status, body } = outcome.answer;
    tally.answer(status, performance.now() - startedAtMs);
    if (body.includes('The service is overloaded.')) tally.overloaded += 1;
  } catch (error) {
    tally.fail(String(error));
  }
}
