// Serves the sandbox's fake affiliate networks on this machine. They report sales of the sandbox's retailers, independently of
// the sandbox's own database.

import { NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { exampleSource } from '@offerbook/sandbox/networks/example-source.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { systemClock } from '../../../domain/clock.ts';
import { bind, urlOf } from '../../node/listen.ts';

const HOST = '127.0.0.1';
/** Preferred port. If it is in use, the sandbox chooses a free port. */
const PORT = 8082;
const DAY_MS = 86_400_000;
/** Networks change sales for about a year. */
const HISTORY_DAYS = 395;
const DENSITY = { salesPerDay: 100, cellMs: 600_000 };

interface NetworksOptions {
  readonly seed: number;
  /** 0 for any free port; undefined for the preferred port if it is free. */
  readonly port: number | undefined;
  readonly logoUrl: (retailerId: string) => string;
}

export interface ServedNetworks {
  /** The base URL of all networks, without a trailing slash. */
  readonly url: string;
  stop(): Promise<void>;
}

export function serveNetworks({ seed, port, logoUrl }: NetworksOptions): ServedNetworks {
  // Whole days, so that a restart on the same day has the same sales.
  const today = Math.floor(systemClock() / DAY_MS);
  const fakes = new FakeNetworks({
    ...{ seed, logoUrl, clock: systemClock },
    sinceMs: (today - HISTORY_DAYS) * DAY_MS,
    density: DENSITY,
  });
  const serve = (chosen: number) =>
    bind({ host: HOST, port: chosen, option: '--networks-port' }, () =>
      Bun.serve({
        ...{ hostname: HOST, port: chosen, development: false },
        // Otherwise, two sandboxes would share the port, and each would get some of the requests.
        reusePort: false,
        fetch: (request) => answerSource(request.url) ?? fakes.answer(request),
      }),
    );
  const server = port === undefined ? serveFirst(serve, [PORT, 0]) : serve(port);
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

/** Serves on the first of two ports, or on the second if the first is in use. */
function serveFirst<Server>(serve: (port: number) => Server, [port, other]: [number, number]): Server {
  try {
    return serve(port);
  } catch {
    return serve(other);
  }
}
