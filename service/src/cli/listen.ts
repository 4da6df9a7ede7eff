// The socket: hands requests to the app, and on stop lets those under way finish.

import type { ServeSettings } from '../config.ts';
import { BadInput } from '../domain/errors.ts';
import type { App } from '../http/app.ts';

/** Requests that have not finished by then are cut off, so that a stop always ends. */
const DRAIN_MS = 10_000;
const IDLE_TIMEOUT_S = 65;

export interface Listener {
  readonly url: string;
  stop(): Promise<void>;
}

export async function listen(app: App, settings: ServeSettings, sharesPort: boolean): Promise<Listener> {
  const server = start();

  function start() {
    try {
      return Bun.serve({
        port: settings.port,
        hostname: settings.host,
        reusePort: sharesPort,
        idleTimeout: IDLE_TIMEOUT_S,
        // No operation has a body; what comes with a request is not worth reading.
        maxRequestBodySize: 1024 * 1024,
        development: false,
        fetch: (request, self) => app(request, self.requestIP(request)?.address ?? ''),
      });
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (code === 'EADDRINUSE') {
        throw new BadInput(`port ${settings.port} on ${settings.host} is taken; choose another with --port`, {
          cause: error,
        });
      }
      if (code === 'EACCES')
        throw new BadInput(`port ${settings.port} may not be used by this user`, { cause: error });
      throw new BadInput(`cannot listen on ${settings.host}, port ${settings.port}`, { cause: error });
    }
  }

  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    url: `http://${host}:${server.port}`,
    async stop() {
      const cutOff = setTimeout(() => server.stop(true), DRAIN_MS);
      await server.stop();
      clearTimeout(cutOff);
    },
  };
}
