// A TCP proxy between a node and its database. It can fall silent: connections stay open, but everything sent on them is lost, as
// if a firewall had dropped their state. It can also move to another server, like an address that follows the primary.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class FaultProxy implements AsyncDisposable {
  port = 0;
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #targetPort: number;
  #isSilent = false;

  private constructor(targetPort: number, delayMs: number) {
    this.#targetPort = targetPort;
    this.#listener = createServer((client) => {
      const pair = { client, server: connect(this.#targetPort, '127.0.0.1') };
      this.#pairs.add(pair);
      for (const [from, to] of [
        [client, pair.server],
        [pair.server, client],
      ] as const) {
        from.on('error', () => {});
        from.on('close', () => {
          this.#pairs.delete(pair);
          to.destroy();
        });
      }
      const forward = () => {
        if (this.#isSilent) return mute(pair);
        client.pipe(pair.server);
        pair.server.pipe(client);
      };
      if (delayMs === 0) forward();
      else setTimeout(forward, delayMs);
    });
  }

  /** With `delayMs`, data on a new connection is forwarded only after this time. */
  static async start(targetPort: number, delayMs = 0): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort, delayMs);
    await once(proxy.#listener.listen(0, '127.0.0.1'), 'listening');
    proxy.port = (proxy.#listener.address() as AddressInfo).port;
    return proxy;
  }

  /** Drops all data from now on, on existing and new connections. */
  fallSilent(): void {
    this.#isSilent = true;
    for (const pair of this.#pairs) mute(pair);
  }

  /** Forwards data on new connections again. Existing connections stay silent forever. */
  comeBack(): void {
    this.#isSilent = false;
  }

  /** Ends all connections; new ones are to this port. */
  moveTo(targetPort: number): void {
    this.#targetPort = targetPort;
    this.#endAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endAll();
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  #endAll(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }
}

/** Reads and discards all data, so that the end of a connection is noticed. */
function mute({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
  client.resume();
  server.resume();
}
