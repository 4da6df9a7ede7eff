// The admin port: metrics and a sign of life for the operator's monitoring, on this machine only and only when
// asked for. No caller of the service can fill up its connections.

import type { Metrics, NodeState } from '../../http/metrics.ts';
import { bind, type Place } from './listen.ts';

export interface Admin {
  readonly metrics: Metrics;
  readonly stop: () => Promise<void>;
}

export function adminPlace(port: number): Place {
  return { host: '127.0.0.1', port, option: '--admin-port' };
}

export async function openAdmin(port: number, state: () => NodeState): Promise<Admin> {
  // Loaded here, because a server without an admin port has no use for it and would start later.
  const { Metrics } = await import('../../http/metrics.ts');
  const metrics = new Metrics(state);
  const place = adminPlace(port);
  const server = bind(place, () =>
    Bun.serve({
      port,
      hostname: place.host,
      development: false,
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/metrics') return metrics.page();
        if (pathname === '/livez') return Response.json({ status: 'live' });
        return new Response('Not found\n', { status: 404 });
      },
    }),
  );
  return { metrics, stop: () => server.stop(true) };
}
