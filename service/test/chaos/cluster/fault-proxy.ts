// A TCP proxy between a node and its database. It can fall silent: connections stay open, but everything sent on them is lost, as
// if a firewall had dropped their state. It can also move to another server, like an address that follows the primary.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** With `delayMs`, data on a new connection is forwarded only after this time. */
export async function startFaultProxy(targetPort: number, delayMs = 0) {
  let [target, isSilent] = [targetPort, false];
  const pairs = new Set<Pair>();
  const listener = createServer((client) => {
    const pair = { client, server: connect(target, '127.0.0.1') };
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
      if (isSilent) return mute(pair);
      client.pipe(pair.server);
      pair.server.pipe(client);
    };
    if (delayMs === 0) forward();
    else setTimeout(forward, delayMs);
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const endAll = () => {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    /** Drops all data from now on, on existing and new connections. */
    fallSilent() {
      isSilent = true;
      for (const pair of pairs) mute(pair);
    },
    /** Forwards data on new connections again. Existing connections stay silent forever. */
    comeBack() {
      isSilent = false;
    },
    /** Ends all connections; new ones go to this port. */
    moveTo(port: number) {
      target = port;
      endAll();
    },
    async [Symbol.asyncDispose]() {
      endAll();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}

/** Reads and discards all data, so that the end of a connection is noticed. */
function mute({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
  client.resume();
  server.resume();
}
