// Overload: the service handles as many requests as it can, rejects the rest, and its memory stays bounded. The long form is
// `npm run test:soak`.

import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { allowedMs } from '../support/allowed-ms.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { getRequest, HttpConnection } from './http-connection.ts';
import { LoadedService, seed } from './loaded-service.ts';
import { runOverload } from './overload.ts';
import { Tally } from './tally.ts';
import { closedLoop } from './traffic.ts';

const MEMORY_MAX_MB = 400;
/**
 * Minimum goodput, as a fraction of the peak. It is low because the load generator needs one of two cores and other tests run
 * at the same time; the long form, on an idle machine, requires 0.9. If a round is disturbed, another one follows.
 */
const GOODPUT_MIN = 0.5;
const ROUNDS_MAX = 8;

test('at three times its capacity, the service answers requests at half its capacity or more, rejects the rest, and recovers', async () => {
  const [sqlite] = DATABASES;
  const seeded = await seed((await sqlite?.create()) ?? '');
  await using service = await LoadedService.start(seeded);
  const load = { requests: [seeded.transactionsRequest], peakMs: 1_000, overloadMs: 2_000 };
  let report = await runOverload(service, seeded, load);
  for (let round = 1; round < ROUNDS_MAX && report.goodput < GOODPUT_MIN; round++) {
    report = await runOverload(service, seeded, load);
  }
  expect(Object.keys(report.statuses).filter((status) => status !== '200' && status !== '503')).toEqual([]);
  expect({ failures: report.failures, livezFailed: report.livez.failed }).toEqual({
    failures: {},
    livezFailed: 0,
  });
  expect(report.goodput).toBeGreaterThan(GOODPUT_MIN);
  expect(report.recoveryMs).toBeLessThan(allowedMs(5_000));
  expect(report.memoryMb.most).toBeLessThan(MEMORY_MAX_MB);
});

test('requests that wait for a stuck database are rejected in time, and catalogue requests are not affected', async () => {
  const databaseUrl = await newPostgresSchema();
  const seeded = await seed(databaseUrl);
  await using service = await LoadedService.start(seeded);
  const blocker = postgres(databaseUrl, { max: 1 });
  try {
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const blocking = blocker.begin(async (sql) => {
      await sql`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const crowd = new Tally();
    const catalogue = closedLoop(
      { url: service.url, requests: [seeded.catalogueRequest], durationMs: 2_500 },
      4,
    );
    await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const connection = await HttpConnection.open(service.url);
        const startedAtMs = performance.now();
        crowd.answer(await connection.request(seeded.transactionsRequest), performance.now() - startedAtMs);
        connection.close();
      }),
    );
    expect(crowd.statuses).toEqual({ 503: 1_000 });
    expect(crowd.percentileMs(1)).toBeLessThan(allowedMs(2_000));
    const { statuses, failed } = await catalogue;
    expect([Object.keys(statuses), failed]).toEqual([['200'], 0]);
    expect(await service.livezMs()).toBeLessThan(allowedMs(1_000));

    release.resolve();
    await blocking;
    const after = await HttpConnection.open(service.url);
    const path = getRequest('/v1/transactions/?limit=1', seeded.privateToken);
    while ((await after.request(path)) !== 200) await Bun.sleep(50);
    const again = await closedLoop(
      { url: service.url, requests: [seeded.transactionsRequest], durationMs: 300 },
      4,
    );
    expect([again.count(200) > 0, again.failed]).toEqual([true, 0]);
    after.close();
    expect(service.memoryMb).toBeLessThan(MEMORY_MAX_MB);
  } finally {
    await blocker.end({ timeout: 1 });
  }
});
