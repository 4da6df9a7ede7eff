// Opens the public port and passes its requests to the app. Stopping lets requests in progress finish.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { ServeSettings } from '../../config.ts';
import type { App } from '../../http/app.ts';
import { STOP_MAX_MS } from './signals.ts';

/** Longest wait for requests in progress. The rest of STOP_MAX_MS is for closing the database. */
const DRAIN_MS = STOP_MAX_MS - 2_000;
const IDLE_TIMEOUT_S = 65;

export type Listener = ReturnType<typeof listen>;

export function listen(app: App, settings: ServeSettings, sharesPort: boolean) {
  const { port, host } = settings;
  const server = bind({
    ...{ host, port, option: '--port' },
    reusePort: sharesPort,
    idleTimeout: IDLE_TIMEOUT_S,
    maxRequestBodySize: 1024 * 1024,
    // A connection that is already closed has no address.
    fetch: (request, self) => app(request, self.requestIP(request)?.address ?? ''),
  });
  return {
    url: urlOf(host, server.port ?? port),
    port: server.port ?? port,
    async stop(): Promise<void> {
      const cutOff = setTimeout(() => server.stop(true), DRAIN_MS);
      await server.stop();
      clearTimeout(cutOff);
    },
  };
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface PortAddress {
  readonly host: string;
  readonly port: number;
  /** The option that sets this port, for messages. */
  readonly option: '--port' | '--admin-port' | '--networks-port';
}

interface ServerOptions extends PortAddress {
  readonly fetch: (request: Request, self: Bun.Server<undefined>) => Response | Promise<Response>;
  readonly reusePort?: boolean;
  readonly idleTimeout?: number;
  readonly maxRequestBodySize?: number;
}

/** Opens a port. Throws BadInput with the reason if the port cannot be opened. */
export function bind({ host, port, option, ...options }: ServerOptions) {
  try {
    // Bun's default with `development: false` would share the port with another process.
    return Bun.serve({ hostname: host, port, development: false, reusePort: false, ...options });
  } catch (error) {
    throw new BadInput(reasonOf((error as NodeJS.ErrnoException).code), { cause: error });
  }

  function reasonOf(code: string | undefined): string {
    if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use; choose another with ${option}`;
    if (code === 'EACCES')
      return `this user is not allowed to listen on port ${port}; choose one above 1023 with ${option}`;
    return `cannot listen on ${host}, port ${port}`;
  }
}

/**
 * Returns the given port, or a free port if the given port is 0. Throws BadInput if another server uses the port: workers would
 * not notice, because they open the port in shared mode.
 */
export function findPort(address: PortAddress): number {
  const server = bind({ ...address, fetch: () => new Response(null, { status: 503 }) });
  // server.port is undefined after stop().
  const found = server.port ?? address.port;
  void server.stop(true);
  return found;
}

/** Returns the preferred port, or any free port if another program uses it. */
export function preferPort(preferred: PortAddress): number {
  try {
    return findPort(preferred);
  } catch {
    return findPort({ ...preferred, port: 0 });
  }
}
