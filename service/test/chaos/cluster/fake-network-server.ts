// A fake affiliate network behind a port, with virtual time. It fails at random, can be disconnected, and can stop its clock.

import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { type VirtualTime, virtualClock } from '../../pull/virtual-clock.ts';
import type { Run } from '../report/run.ts';

const FAULT_SHARE = 0.03;
/** In real time: long enough to read a catalogue, short enough to change while it is read. */
const DEALS_EVERY_MS = 5_000;
export const SALES_PATH = /\/(?:transactions|Actions|conversion\.json|query)\b/;
const REQUEST_WAIT_MAX_MS = 15_000;

interface Options {
  readonly time: VirtualTime;
  /** Virtual time of the first sale. */
  readonly sinceMs: number;
  readonly salesPerDay: number;
}

/** Reports requests that the network refuses without a fault, and secrets in URLs. Ends with the run. */
export function startFakeNetwork(run: Run, network: NetworkName, { time, sinceMs, salesPerDay }: Options) {
  const { now } = virtualClock(time);
  const dealsEveryMs = DEALS_EVERY_MS * time.speed;
  let frozenMs = Number.POSITIVE_INFINITY;
  let requests = 0;
  let onRequest = (_target: string) => {};
  const plan = randomFaults(run.seed, FAULT_SHARE);
  const secrets = Object.values<string>(ACCOUNTS[network].credentials);
  const fakes = new FakeNetworks({
    ...{ seed: run.seed, sinceMs, clock: () => Math.min(now(), frozenMs) },
    density: { salesPerDay, cellMs: 360 * MINUTE_MS },
    // The clock of the network stops for the last pull, and a rate would then allow no further requests.
    ...{ pageSizeMax: 20, tokenLifeMs: 4 * DAY_MS, areRatesEnforced: false },
    ...{ logoUrl: () => 'https://logos.example/', dealsEveryMs },
    faults: (name, number) => (frozenMs < now() ? undefined : plan(name, number)),
    onResponse: ({ target, status, fault }) => {
      requests++;
      onRequest(target);
      if (status !== 200 && fault === undefined)
        run.violation('REFUSED', `${network}: ${status} ${target.replace(/\?.*/, '')}`);
      if (secrets.some((secret) => target.includes(secret))) run.violation('SECRET', `${network}: in a URL`);
    },
  });
  const listen = (port: number) =>
    Bun.serve({ port, hostname: '127.0.0.1', development: false, fetch: (request) => fakes.answer(request) });
  let server = listen(0);
  const port = server.port ?? 0;
  run.defer(() => server.stop(true));
  return {
    ...{ baseUrl: `http://127.0.0.1:${port}`, ledger: fakes.ledger, dealsEveryMs },
    requests: () => requests,
    /** Waits until the network answers a request for such a path, at most a few seconds. */
    async nextRequest(paths = /^/): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      onRequest = (target) => paths.test(target) && resolve();
      await Promise.race([promise, Bun.sleep(REQUEST_WAIT_MAX_MS)]);
    },
    async disconnect(forMs: number) {
      await server.stop(true);
      await Bun.sleep(forMs);
      server = listen(port);
    },
    /** Stops the network's clock and its faults. Returns the time. */
    freeze(): number {
      frozenMs = now();
      return frozenMs;
    },
  };
}
