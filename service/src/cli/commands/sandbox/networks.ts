// Serves the sandbox's fake affiliate networks on this machine. They report sales of the sandbox's retailers, independently of
// the sandbox's own database.

import { exampleSource, NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { systemClock } from '../../../domain/clock.ts';
import { bind, preferPort, urlOf } from '../../node/listen.ts';

const HOST = '127.0.0.1';
/** Preferred port. If it is in use, the sandbox chooses a free port. */
const PORT = 8082;
/** Networks change sales for about a year. */
const HISTORY_DAYS = 395;
const DENSITY = { salesPerDay: 100, cellMs: 600_000 };

interface NetworksOptions {
  readonly seed: number;
  /** 0 for any free port; undefined for the preferred port if it is free. */
  readonly port: number | undefined;
  readonly logoUrl: (retailerId: string) => string;
}

/** Returns the base URL of all networks, without a trailing slash. */
export function serveNetworks({ seed, port, logoUrl }: NetworksOptions) {
  // Whole days, so that a restart on the same day has the same sales.
  const today = Math.floor(systemClock() / DAY_MS);
  const fakes = new FakeNetworks({
    ...{ seed, logoUrl, clock: systemClock },
    sinceMs: (today - HISTORY_DAYS) * DAY_MS,
    density: DENSITY,
  });
  const address = { host: HOST, option: '--networks-port' } as const;
  const server = bind({
    ...address,
    port: port ?? preferPort({ ...address, port: PORT }),
    fetch: (request) => answerSource(request.url) ?? fakes.answer(request),
  });
  return { url: urlOf(HOST, server.port ?? 0), stop: () => server.stop(true) };
}

/** The source file of a network, at /sources/awin.json for example. */
function answerSource(url: string): Response | undefined {
  const { pathname, origin } = new URL(url);
  const network = NETWORKS.find((name) => pathname === `/sources/${name}.json`);
  if (network === undefined) return undefined;
  return new Response(`${JSON.stringify(exampleSource(network, origin), undefined, 2)}\n`, {
    headers: { 'Content-Type': 'application/json' },
  });
}
