// The admin port: metrics and a sign of life for the operator's monitoring, on this machine only and only when
// asked for. No caller of the service can fill up its connections.

import { metricsPage, type NodeState } from '../../http/metrics.ts';
import { bind, type Place } from './listen.ts';

export interface Admin {
  readonly stop: () => Promise<void>;
}

export function adminPlace(port: number): Place {
  return { host: '127.0.0.1', port, option: '--admin-port' };
}

export function openAdmin(port: number, state: () => Promise<NodeState>): Admin {
  const place = adminPlace(port);
  const server = bind(place, () =>
    Bun.serve({
      port,
      hostname: place.host,
      development: false,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/metrics') return metricsPage(await state());
        if (pathname === '/livez') return Response.json({ status: 'live' });
        return new Response('Not found\n', { status: 404 });
      },
    }),
  );
  return { stop: () => server.stop(true) };
}
