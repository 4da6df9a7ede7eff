// A TCP proxy between a node and its database that can fall silent: connections stay open, but everything sent on them
// is lost, as if a firewall had dropped their state.

import { connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class FaultProxy implements AsyncDisposable {
  readonly port: number;
  readonly #listener: Server;
  readonly #pairs: Set<Pair>;
  readonly #isSilent: { value: boolean };

  private constructor(port: number, listener: Server, pairs: Set<Pair>, isSilent: { value: boolean }) {
    this.port = port;
    this.#listener = listener;
    this.#pairs = pairs;
    this.#isSilent = isSilent;
  }

  /** With `delayMs`, data on a new connection is forwarded only after this time. */
  static async start(targetPort: number, delayMs = 0): Promise<FaultProxy> {
    const pairs = new Set<Pair>();
    const isSilent = { value: false };
    const listener = createServer((client) => {
      const pair = { client, server: connect(targetPort, '127.0.0.1') };
      pairs.add(pair);
      for (const [from, to] of [
        [client, pair.server],
        [pair.server, client],
      ] as const) {
        from.on('error', () => {});
        from.on('close', () => {
          pairs.delete(pair);
          to.destroy();
        });
      }
      const forward = () => {
        if (isSilent.value) return mute(pair);
        client.pipe(pair.server);
        pair.server.pipe(client);
      };
      if (delayMs === 0) forward();
      else setTimeout(forward, delayMs);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return new FaultProxy(port, listener, pairs, isSilent);
  }

  /** Drops all data from now on, on existing and new connections. */
  fallSilent(): void {
    this.#isSilent.value = true;
    for (const pair of this.#pairs) mute(pair);
  }

  /** Forwards data on new connections again. Existing connections stay silent forever. */
  comeBack(): void {
    this.#isSilent.value = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }
}

/** Reads and discards all data, so that the end of a connection is noticed. */
function mute({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
  client.resume();
  server.resume();
}
