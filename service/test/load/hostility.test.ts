// Hundreds of hostile clients, directly and through the proxies that docs/operations/proxies.md recommends: all other clients
// are served, nothing leaks, and nothing crashes. `npm run test:soak` does the same with thousands of clients.

import { beforeAll, describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { lacks } from '../support/programs.ts';
import { PROXIES, type ProxyName, ReverseProxy } from '../support/reverse-proxy.ts';
import { countFilesLeftOpen, FILES_SPARE, type HostilityReport, runHostility } from './hostility.ts';
import { LoadedService, type Seeded, seed } from './loaded-service.ts';
import { runPipelining, startFlood } from './pipelining.ts';

const CROWD = { held: 600, rounds: 1, roundMs: 1_500, seed: 7 };

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed((await DATABASES[0]?.create()) ?? '');
});

async function runThrough(place: 'alone' | ProxyName, service: LoadedService) {
  await using proxy = place === 'alone' ? undefined : await ReverseProxy.start(place, [service.url]);
  return await runHostility(service, seeded, { url: proxy?.url ?? service.url, ...CROWD });
}

/** On an idle machine, all statuses are 200. On a busy machine, a late page gets 503. */
function expectAnswered({ statuses, failures }: Pick<HostilityReport, 'statuses' | 'failures'>): void {
  const { 200: served = 0, 503: late = 0, ...other } = statuses;
  expect({ other, failures }).toEqual({ other: {}, failures: {} });
  expect(served).toBeGreaterThan(late);
}

/** `npm run test:soak` tests all proxies, with higher loads. */
const PLACES = ['alone', PROXIES[0]] as const;

describe.each(PLACES)('during an attack by many hostile clients, with the service %s,', (place) => {
  test.skipIf(place !== 'alone' && lacks(place))(
    'valid requests succeed, and no file handles or memory leak',
    async () => {
      await using service = await LoadedService.start(seeded);
      const before = service.openFiles;
      const report = await runThrough(place, service);
      expectAnswered(report);
      expect(report.opened).toBeGreaterThan(CROWD.held);
      expect(await countFilesLeftOpen(service, before)).toBeLessThan(before + FILES_SPARE);
      expect(report.memoryMb.after).toBeLessThan(400);
      expect(service.exitCode).toBeUndefined();
      expect(await service.stop()).toBe(0);
    },
  );
});

test('a connection that sends endless requests is closed and delays other clients only briefly', async () => {
  await using service = await LoadedService.start(seeded);
  const report = await runPipelining(service, seeded, {
    connections: 1,
    burst: 0,
    rounds: 1,
    roundMs: 2_000,
  });
  expectAnswered(report);
  expect(report.connections).toBeGreaterThan(10);
  // A few milliseconds on an idle machine. It was many seconds when the server did not close such connections.
  expect(report.livezMaxMs).toBeLessThan(4_000);
});

test('other clients get responses while connections repeatedly send bursts and reconnect', async () => {
  await using service = await LoadedService.start(seeded);
  const flood = await startFlood(service.url, { connections: 64, burst: 19 });
  // Without a budget across all connections, no other request would get a response before the flood ends.
  for (let request = 0; request < 10; request++)
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  expect((await flood.stop()).connections).toBeGreaterThan(64);
});

test('connections that send headers slowly or send nothing are closed after a few seconds', async () => {
  await using service = await LoadedService.start(seeded);
  const { hostname, port } = new URL(service.url);
  const heldMs = async (bytes: string) => {
    const closed = Promise.withResolvers<void>();
    const startedAtMs = performance.now();
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: () => {}, close: () => closed.resolve() },
    });
    let sent = 0;
    const timer = setInterval(() => void socket.write(bytes[sent++] ?? ''), 500);
    await closed.promise;
    clearInterval(timer);
    return performance.now() - startedAtMs;
  };
  const held = await Promise.all(
    ['', 'GET /livez HTTP/1.1\r\nHost: x\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'].map(heldMs),
  );
  for (const ms of held) expect(ms).toBeWithin(5_000, 60_000);
});
