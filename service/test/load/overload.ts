// Overload: measures the peak throughput of the service, then sends requests at three times that rate and measures the goodput.

import type { LoadedService, Seeded } from './loaded-service.ts';
import { Tally } from './tally.ts';
import { closedLoop, openLoop } from './traffic.ts';

/** Number of connections that keep the service busy; CONNECTIONS_MAX is the limit during overload. */
const CONNECTIONS = 64;
const CONNECTIONS_MAX = 1_000;
const FACTOR = 3;
const LIVEZ_INTERVAL_MS = 100;
const RECOVERY_REQUESTS = 50;

export interface OverloadReport {
  readonly peakPerSecond: number;
  readonly goodPerSecond: number;
  /** Successful requests as a fraction of the peak. */
  readonly goodput: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  readonly unsent: number;
  readonly livez: { readonly asked: number; readonly p99Ms: number; readonly failed: number };
  readonly memoryMb: { readonly before: number; readonly most: number; readonly after: number };
  /** Time from the end of the overload until requests succeeded as usual. */
  readonly recoveryMs: number;
}

export interface OverloadOptions {
  readonly requests: readonly Uint8Array[];
  readonly peakMs: number;
  readonly overloadMs: number;
}

export async function runOverload(
  service: LoadedService,
  seeded: Seeded,
  { requests, peakMs, overloadMs }: OverloadOptions,
): Promise<OverloadReport> {
  const { url } = service;
  await closedLoop({ url, requests, durationMs: peakMs / 2 }, CONNECTIONS);
  const peak = await closedLoop({ url, requests, durationMs: peakMs }, CONNECTIONS);
  const peakPerSecond = peak.count(200) / (peakMs / 1000);

  const before = service.memoryMb;
  const watch = watchService(service);
  const overload = await openLoop(
    { url, requests, durationMs: overloadMs },
    peakPerSecond * FACTOR,
    CONNECTIONS_MAX,
  );
  const endedAtMs = performance.now();
  await untilAsUsual(service, seeded);
  const recoveryMs = performance.now() - endedAtMs;
  const { livez, most } = await watch.stop();

  const goodPerSecond = overload.count(200) / (overloadMs / 1000);
  return {
    peakPerSecond,
    goodPerSecond,
    goodput: goodPerSecond / peakPerSecond,
    statuses: overload.statuses,
    failures: overload.failures,
    unsent: overload.unsent,
    livez: { asked: livez.answered, p99Ms: livez.percentileMs(0.99), failed: livez.failed },
    memoryMb: { before, most, after: service.memoryMb },
    recoveryMs,
  };
}

/** Continuously requests /livez and records the peak memory. */
function watchService(service: LoadedService) {
  const livez = new Tally();
  let most = 0;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      try {
        livez.answer(200, await service.livezMs());
      } catch (error) {
        livez.fail(String(error));
      }
      most = Math.max(most, service.memoryMb);
      await Bun.sleep(LIVEZ_INTERVAL_MS);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return { livez, most };
    },
  };
}

/** Waits until RECOVERY_REQUESTS consecutive requests of both kinds have succeeded. */
async function untilAsUsual({ url }: LoadedService, seeded: Seeded): Promise<void> {
  const paths = [
    ['/v1/cashback-offers/', seeded.publicToken],
    ['/v1/transactions/', seeded.privateToken],
  ] as const;
  for (let inARow = 0; inARow < RECOVERY_REQUESTS; ) {
    const [path, token] = paths[inARow % 2] ?? paths[0];
    const { ok } = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
    inARow = ok ? inARow + 1 : 0;
  }
}
