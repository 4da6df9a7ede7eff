// Replacing nodes under load, behind the proxies that docs/operations/proxies.md recommends. The long form is
// `bun service/test/faults/deploys-main.ts`.

import { beforeAll, describe, expect, test } from 'bun:test';
import { LoadedService, type Seeded, seed } from '../load/loaded-service.ts';
import { DATABASES } from '../support/databases.ts';
import { PROXIES } from '../support/reverse-proxy.ts';
import { runDeploys } from './deploys.ts';

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed((await DATABASES[0]?.create()) ?? '');
});

describe.each(PROXIES)('behind %s', (proxy) => {
  test('nodes are stopped and started in turn, and not one request fails', async () => {
    const report = await runDeploys(seeded, { proxy, stops: 2, perSecond: 200 });
    expect(report).toMatchObject({ exitCodes: [0, 0], failures: {} });
    expect(Object.keys(report.statuses)).toEqual(['200']);
    expect(report.answered).toBeGreaterThan(500);
  });
});

test('a node that is told to stop says so, goes on serving for the drain delay, and lets connections go', async () => {
  await using node = await LoadedService.start(seeded, ['--drain-delay', '1']);
  const get = (path: string) =>
    fetch(node.url + path, { headers: { Authorization: `Bearer ${seeded.publicToken}` } });
  const connection = async () => (await get('/v1/coupons/')).headers.get('Connection');
  expect([(await get('/readyz')).status, await connection()]).toEqual([200, null]);
  const toldAtMs = performance.now();
  const exited = node.stop('SIGTERM');
  while ((await get('/readyz')).status === 200) await Bun.sleep(5);
  expect([(await get('/v1/coupons/')).status, await connection()]).toEqual([200, 'close']);
  expect(await exited).toBe(0);
  expect(performance.now() - toldAtMs).toBeGreaterThan(1_000);
});
