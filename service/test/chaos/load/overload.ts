// Overload: measures the peak throughput of a node, then sends requests at three times that rate. The node must serve as many
// requests as it can, reject the rest, stay within its memory, and recover.

import postgres from 'postgres';
import { until } from '../../support/until.ts';
import type { Run } from '../report/run.ts';
import { HttpConnection } from '../traffic/http-connection.ts';
import { closedLoop, forMs, openLoop } from '../traffic/loops.ts';
import { requireAnswered, Tally } from '../traffic/tally.ts';
import {
  type LoadedNode,
  MEMORY_MAX_MB,
  requireLivez,
  startLoaded,
  untilAsUsual,
  watchNode,
} from './loaded-node.ts';

/** Number of connections that keep the node busy; CONNECTIONS_MAX is the limit during overload. */
const CONNECTIONS = 64;
const CONNECTIONS_MAX = 1_000;
const FACTOR = 3;
const GOODPUT_MIN = 0.9;
const LIVEZ_P99_MAX_MS = 1_000;
const RECOVERY_MAX_MS = 5_000;
/** The documented limit for a 503. */
const UNAVAILABLE_WITHIN_MS = 2_000;
const STUCK_REQUESTS = 1_000;

const KINDS = ['catalogue', 'transactions', 'both'] as const;

export async function overload(run: Run): Promise<void> {
  const kinds = run.choose('requests', KINDS);
  for (const kind of kinds) {
    await using stack = new AsyncDisposableStack();
    const loaded = await startLoaded(run, stack);
    const requests = kind === 'both' ? [loaded.catalogue, loaded.transactions] : [loaded[kind]];
    await overloadWith(run, `overload, ${kind}`, loaded, requests, run.minutes / kinds.length);
  }
  if (run.database.name === 'PostgreSQL') await waitForStuckDatabase(run);
}

async function overloadWith(
  run: Run,
  part: string,
  loaded: LoadedNode,
  requests: readonly Uint8Array[],
  minutes: number,
): Promise<void> {
  const { node } = loaded;
  const [overloadMs, peakMs] = [minutes * 60_000, Math.min(5_000, minutes * 30_000)];
  const traffic = (durationMs: number) => ({ url: node.url, requests, isOver: forMs(durationMs) });
  await closedLoop(traffic(peakMs / 2), CONNECTIONS);
  const peak = await closedLoop(traffic(peakMs), CONNECTIONS);
  const peakPerSecond = peak.count(200) / (peakMs / 1000);
  const watch = watchNode(node);
  const tally = await openLoop(traffic(overloadMs), peakPerSecond * FACTOR, CONNECTIONS_MAX);
  const endedAtMs = performance.now();
  await untilAsUsual(loaded);
  const recoveryMs = performance.now() - endedAtMs;
  const { livez, memoryMb } = await watch.stop();
  const goodPerSecond = tally.count(200) / (overloadMs / 1000);
  const { statuses, failures, unsent } = tally;
  run.figure(`${part}: requests/s, peak and in overload`, [peakPerSecond, goodPerSecond].map(Math.round));
  run.figure(`${part}: responses`, { statuses, failures, unsent });
  const others = Object.keys(statuses).filter((status) => status !== '200' && status !== '503');
  run.require(`${part}: statuses are 200 or 503`, others.length === 0 && tally.count(200) > 0, statuses);
  run.require(`${part}: no request is left without a response`, tally.failed === 0, failures);
  requireLivez(run, part, livez);
  run.limit(`${part}: memory`, memoryMb, MEMORY_MAX_MB, 'MB');
  const goodput = goodPerSecond / peakPerSecond;
  run.requireWhenIdle(`${part}: goodput is at least 90 % of the peak`, goodput >= GOODPUT_MIN, goodput);
  run.limit(`${part}: p99 of /livez`, livez.percentileMs(0.99), LIVEZ_P99_MAX_MS, 'ms');
  run.limit(`${part}: recovery`, recoveryMs, RECOVERY_MAX_MS, 'ms');
}

/** Requests that wait for a locked table are rejected before it is unlocked; catalogue requests are not affected. */
async function waitForStuckDatabase(run: Run): Promise<void> {
  const part = 'stuck database';
  await using stack = new AsyncDisposableStack();
  const loaded = await startLoaded(run, stack);
  const { node } = loaded;
  const waiting = Object.assign(new Tally(), { rejectedByQueue: 0 });
  const catalogue = new Tally();
  const waitOnce = async () => {
    using connection = await HttpConnection.open(node.url);
    const startedAtMs = performance.now();
    const outcome = await connection.exchange(loaded.transactions, 'GET');
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    waiting.answer(outcome.answer.status, performance.now() - startedAtMs);
    if (outcome.answer.body.includes('The service is overloaded.')) waiting.rejectedByQueue += 1;
  };
  const blocker = postgres(loaded.databaseUrl, { max: 1, onnotice: () => {} });
  stack.defer(() => blocker.end({ timeout: 1 }));
  await blocker.begin(async (sql) => {
    await sql`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
    let isOver = false;
    const traffic = { url: node.url, requests: [loaded.catalogue], isOver: () => isOver, tally: catalogue };
    const polling = closedLoop(traffic, 4);
    for (let sent = 0; sent < STUCK_REQUESTS; sent++)
      void waitOnce().catch((error: unknown) => waiting.fail(String(error)));
    // Without a limit for the queue, a request would wait for the timeouts of all requests before it.
    await until(
      () => waiting.answered + waiting.failed,
      (count) => count === STUCK_REQUESTS,
    ).finally(() => {
      isOver = true;
      return polling;
    });
  });
  await untilAsUsual(loaded);
  const { statuses, failures, rejectedByQueue } = waiting;
  run.figure(`${part}: responses`, { statuses, rejectedByQueue });
  run.require(`${part}: all get 503`, waiting.count(503) === STUCK_REQUESTS, { statuses, failures });
  // The queue rejects these requests before their work starts; the database's deadline rejects the others during it.
  run.require(`${part}: the queue rejects most`, rejectedByQueue > STUCK_REQUESTS / 2, rejectedByQueue);
  requireAnswered(run, `${part}, catalogue`, catalogue, 'catalogue');
  run.limit(`${part}: slowest 503`, waiting.percentileMs(1), UNAVAILABLE_WITHIN_MS, 'ms');
  run.limit(`${part}: memory`, node.memoryMb, MEMORY_MAX_MB, 'MB');
}
