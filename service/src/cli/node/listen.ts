// The socket: hands requests to the app, and on stop lets those under way finish.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { ServeSettings } from '../../config.ts';
import type { App } from '../../http/app.ts';
import { STOP_MAX_MS } from './signals.ts';

/** Requests that have not finished by then are cut off. Of the time that a stop may take, the rest is for the database. */
const DRAIN_MS = STOP_MAX_MS - 2_000;
const IDLE_TIMEOUT_S = 65;
/** Of a connection that is gone already. */
const UNKNOWN_PEER = { address: '', port: 0 };

export interface Listener {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export function listen(app: App, settings: ServeSettings, sharesPort: boolean): Listener {
  const { port, host } = settings;
  const server = bind({ host, port, option: '--port' }, () =>
    Bun.serve({
      port,
      hostname: host,
      reusePort: sharesPort,
      idleTimeout: IDLE_TIMEOUT_S,
      // No operation has a body; what comes with a request is not worth reading.
      maxRequestBodySize: 1024 * 1024,
      development: false,
      fetch: (request, self) => app(request, self.requestIP(request) ?? UNKNOWN_PEER),
    }),
  );
  return {
    url: urlOf(host, server.port ?? port),
    port: server.port ?? port,
    async stop() {
      const cutOff = setTimeout(() => server.stop(true), DRAIN_MS);
      await server.stop();
      clearTimeout(cutOff);
    },
  };
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface Place {
  readonly host: string;
  readonly port: number;
  /** With which another port can be chosen. */
  readonly option: '--port' | '--admin-port';
}

/** Binds a socket, or says in one sentence why that cannot be done. */
export function bind<T>({ host, port, option }: Place, serve: () => T): T {
  try {
    return serve();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 'EADDRINUSE') {
      throw new BadInput(`port ${port} on ${host} is taken; choose another with ${option}`, { cause: error });
    }
    if (code === 'EACCES') throw new BadInput(`port ${port} may not be used by this user`, { cause: error });
    throw new BadInput(`cannot listen on ${host}, port ${port}`, { cause: error });
  }
}

/**
 * The port that a server can have: the one that is asked for, or any that is free for 0. Found out by listening for a
 * moment, without sharing: another server on the port would go unnoticed.
 */
export function findPort(place: Place): number {
  const { host, port } = place;
  const server = bind(place, () =>
    Bun.serve({
      hostname: host,
      port,
      reusePort: false,
      fetch: () => new Response(null, { status: 503 }),
    }),
  );
  // Known only while it is open.
  const found = server.port ?? port;
  void server.stop(true);
  return found;
}
