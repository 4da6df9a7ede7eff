// The workers of a node: one crashes, one stops responding, or none starts.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { WorkerTimings } from '../../src/cli/node/workers/worker-pool.ts';
import { textOf } from '../console/open-console.ts';
import { offerbook, type ServerProcess, spawnOfferbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { WorkerFaults } from '../support/faulty-workers/worker-faults.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

/** Ten seconds, plus an allowance for a busy machine. */
const STOPPED_WITHIN_MS = 30_000;

let faults: WorkerFaults;
let started: ServerProcess | undefined;
let adminUrl: string;
let env: Record<string, string>;

beforeEach(async () => {
  faults = new WorkerFaults();
  started = undefined;
  env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'workers.db')}` };
  expect((await offerbook(['orgs', 'create', 'acme'], { env })).code).toBe(0);
});

afterEach(async () => {
  await started?.stop('SIGKILL');
  faults[Symbol.dispose]();
});

async function start(workers: number, timings: Partial<WorkerTimings> = {}): Promise<ServerProcess> {
  const adminPort = await freePort();
  adminUrl = `http://127.0.0.1:${adminPort}`;
  const args = ['--workers', String(workers), '--admin-port', String(adminPort)];
  started = await faults.start(args, { env }, { restartMinMs: 100, ...timings });
  return started;
}

/** 0 while nothing was counted. */
async function metric(name: string): Promise<number> {
  const page = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = page.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

const untilMetric = (name: string, valueMin: number) =>
  until(
    () => metric(name),
    (value) => value >= valueMin,
  );

/** Sends requests on separate connections; returns the count of each status. */
async function ask(url: string, count: number): Promise<Record<string, number>> {
  const tally: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const status = await fetch(`${url}/readyz`, { headers: { Connection: 'close' } }).then(
      (response) => String(response.status),
      (error) => String(error.code),
    );
    tally[status] = (tally[status] ?? 0) + 1;
  }
  return tally;
}

test('after its first response, a node does not reject any request, because workers listen only when they are ready', async () => {
  const offers = (i: number) => Array.from({ length: 10 }, (_, j) => offer(10_000 + i * 10 + j));
  const rows = Array.from({ length: 200 }, (_, i) => retailer(i + 1, { cashbackOffers: offers(i) }));
  await offerbook(['import', 'catalogue', '-'], { env, stdin: ndjson(rows) });
  const port = await freePort();
  const child = spawnOfferbook(['serve', '--port', String(port), '--workers', '4'], { env });
  try {
    let log = '';
    void (async () => {
      for await (const chunk of child.stdout) log += new TextDecoder().decode(chunk);
    })();
    const tallies: Record<string, number>[] = [];
    while (log.split('"worker ready"').length <= 4) tallies.push(await ask(`http://127.0.0.1:${port}`, 1));
    const isAnswer = (tally: Record<string, number>) =>
      Object.keys(tally).some((status) => /^\d+$/.test(status));
    const answers = tallies.slice(tallies.findIndex(isAnswer));
    expect(answers).toEqual(answers.map(() => ({ 200: 1 })));
  } finally {
    child.kill('SIGKILL');
  }
});

const ANSWERED = 'offerbook_http_requests_total{route="/readyz",status="200"}';

test('a crashed worker is replaced, the other workers keep responding, and its counts are kept', async () => {
  const server = await start(3);
  await server.logged('worker ready', 3);
  expect(await ask(server.url, 30)).toEqual({ 200: 30 });
  await untilMetric(ANSWERED, 30);
  faults.letHappen('crash', 2);
  const [end] = await server.logged('a worker ended; starting a new one');
  expect(end).toMatchObject({
    worker: 2,
    delayMs: 100,
    err: { message: expect.stringContaining('a test wants it so') },
  });
  expect(await ask(server.url, 30)).toEqual({ 200: 30 });
  expect((await server.logged('worker ready', 4)).at(-1)).toMatchObject({ worker: 2 });
  expect(await ask(server.url, 30)).toEqual({ 200: 30 });
  expect(await metric('offerbook_worker_restarts_total')).toBe(1);
  expect(await metric('offerbook_workers_ready')).toBe(3);
  expect(await untilMetric(ANSWERED, 90)).toBe(90);
  // The console shows the same numbers for the whole node.
  const overview = textOf(await (await fetch(`${adminUrl}/`)).text());
  expect(overview).toMatch(/Workers ready3 of 3\s*Workers replaced1/);
  expect(overview).toMatch(/\/readyz90/);
});

test('an unresponsive worker is replaced, and then all requests get responses', async () => {
  const server = await start(2, { silenceMaxMs: 1_000 });
  await server.logged('worker ready', 2);
  faults.letHappen('loop', 1);
  const [end] = await server.logged('a worker ended; starting a new one');
  expect(end).toMatchObject({ worker: 1, err: { message: 'it does not respond' } });
  await server.logged('worker ready', 3);
  expect(await ask(server.url, 30)).toEqual({ 200: 30 });
});

test('a worker that cannot be terminated stops the node with an error, so the node can be restarted', async () => {
  const server = await start(2, { silenceMaxMs: 500, endMaxMs: 500 });
  await server.logged('worker ready', 2);
  faults.letHappen('block', 1);
  expect(await server.ended()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a worker does not respond and cannot be terminated'),
  });
});

test('a worker that does not start is retried with increasing delays while the other workers keep running', async () => {
  faults.letHappen('stillborn', 2);
  const server = await start(2, { restartMaxMs: 800 });
  const ends = await server.logged('a worker ended; starting a new one', 6);
  expect(ends.map(({ worker, delayMs }) => [worker, delayMs])).toEqual(
    [100, 200, 400, 800, 800, 800].map((delayMs) => [2, delayMs]),
  );
  expect(await metric('offerbook_worker_restarts_total')).toBeGreaterThanOrEqual(5);
  expect(await metric('offerbook_workers_ready')).toBe(1);
  expect(await ask(server.url, 30)).toEqual({ 200: 30 });
  faults.revive(2);
  await untilMetric('offerbook_workers_ready', 2);
});

test('a worker that ran long enough is replaced after the shortest delay, regardless of how often it exits', async () => {
  faults.letHappen('stillborn', 2);
  const server = await start(2, { provenMs: 0 });
  const ends = await server.logged('a worker ended; starting a new one', 3);
  expect(ends.map(({ worker, delayMs }) => [worker, delayMs])).toEqual(Array(3).fill([2, 100]));
  faults.revive(2);
});

test('failed starts are counted from zero after a worker has been ready and has crashed', async () => {
  faults.letHappen('stillborn', 2);
  const server = await start(2, { restartMinMs: 200, restartMaxMs: 200 });
  await server.logged('a worker ended; starting a new one', 6);
  faults.letHappen('stillborn', 1);
  faults.letHappen('crash', 1);
  // The crashed worker and a worker that fails to start while none is ready make two more.
  await server.logged('a worker ended; starting a new one', 8);
  faults.revive(1);
  const ready = await server.logged('worker ready', 2);
  expect(ready.map(({ worker }) => worker)).toEqual([1, 1]);
});

test('a stuck worker does not delay a stop', async () => {
  const server = await start(2);
  await server.logged('worker ready', 2);
  faults.letHappen('loop', 1);
  // Wait until the worker is stuck.
  await until(() => !faults.isDue('loop', 1));
  expect(await Promise.race([server.stop('SIGTERM'), Bun.sleep(STOPPED_WITHIN_MS).then(() => 'late')])).toBe(
    0,
  );
});

describe('when no worker starts', () => {
  test('the node prints the reason and exits 1 at startup', async () => {
    for (const worker of [1, 2]) faults.letHappen('stillborn', worker);
    await expect(start(2)).rejects.toThrow(/ended with 1: .*no worker could start: .*a test wants it so/s);
  });

  test('the node prints the reason and exits 1 after all workers have crashed', async () => {
    const server = await start(2);
    await server.logged('worker ready', 2);
    for (const worker of [1, 2]) {
      faults.letHappen('stillborn', worker);
      faults.letHappen('crash', worker);
    }
    expect(await server.ended()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no worker could start: .*a test wants it so/s),
    });
  });
});
