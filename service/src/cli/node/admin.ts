// The admin port: metrics and health of the whole node, for the operator's monitoring, on this machine only and only
// when asked for. No caller of the service can fill up its connections.

import type { ServeSettings } from '../../config.ts';
import { metricsPage, type NodeState } from '../../http/metrics.ts';
import { type Health, readiness } from '../../http/readiness.ts';
import { bind } from './listen.ts';

/** Nobody else's business. */
export const ADMIN_HOST = '127.0.0.1';

export interface Admin {
  stop(): Promise<void>;
}

export interface AdminSource {
  health(): Health;
  /** May ask the database. */
  state(): Promise<NodeState>;
}

/** Undefined when nobody has asked for it. */
export function openAdmin({ adminPort: port }: ServeSettings, source: AdminSource): Admin | undefined {
  if (port === undefined) return undefined;
  const host = ADMIN_HOST;
  const server = bind({ host, port, option: '--admin-port' }, () =>
    Bun.serve({
      port,
      hostname: host,
      development: false,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/metrics') return metricsPage(await source.state());
        if (pathname === '/livez') return Response.json({ status: 'live' });
        if (pathname === '/readyz') {
          const { body, ...init } = readiness(source.health());
          return Response.json(body, init);
        }
        return new Response('Not found\n', { status: 404 });
      },
    }),
  );
  return { stop: () => server.stop(true) };
}
