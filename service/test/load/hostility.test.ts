// Clients that are slow, broken or worse, in their hundreds, straight and through the proxies that
// docs/operations.md recommends: everybody else is served, nothing leaks, nothing crashes. The long form, with
// thousands of them, is a part of `npm run test:soak`.

import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { PROXIES, ReverseProxy } from '../support/reverse-proxy.ts';
import { runHostility } from './hostility.ts';
import { LoadedService, seed } from './loaded-service.ts';

const CROWD = { held: 600, rounds: 1, roundMs: 1_500, seed: 7 };

describe.each(['alone', ...PROXIES] as const)('a hostile crowd, the service %s', (place) => {
  test('good requests are all answered, and the crowd leaves nothing behind', async () => {
    const seeded = await seed((await DATABASES[0]?.create()) ?? '');
    await using service = await LoadedService.start(seeded);
    await using proxy = place === 'alone' ? undefined : await ReverseProxy.start(place, [service.url]);
    const report = await runHostility(service, seeded, { url: proxy?.url ?? service.url, ...CROWD });
    expect({ statuses: Object.keys(report.statuses), failures: report.failures }).toEqual({
      statuses: ['200'],
      failures: {},
    });
    expect(report.opened).toBeGreaterThan(CROWD.held);
    expect(report.openFiles.after).toBeLessThan(report.openFiles.before + 100);
    expect(report.memoryMb.after).toBeLessThan(400);
    expect(service.exitCode).toBeUndefined();
    expect(await service.stop()).toBe(0);
  }, 60_000);
});
