// The sockets to PostgreSQL. The driver asks for them and speaks on them; here it is decided to which of
// several servers the next one leads, and those from which nothing is heard any more are cut off.

import { connect, type Socket } from 'node:net';

/** How long one of several servers may take to accept a connection before the next one is tried. */
const NEXT_SERVER_MS = 1_000;
/** When none of several servers will do, the driver asks again at once; this keeps it from asking all the time. */
const ROUND_PAUSE_MS = 50;
const LISTEN_INTERVAL_MS = 500;

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Where the driver would connect to. */
export interface DriverOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

interface Heard {
  bytes: number;
  atMs: number;
}

export class PostgresSockets {
  readonly #addresses: readonly ServerAddress[];
  readonly #heard = new Map<Socket, Heard>();
  readonly #timer: Timer;
  #attempts = 0;

  /** The addresses of a URL that names several servers; for any other, none: the driver knows where it leads. */
  constructor(addresses: readonly ServerAddress[]) {
    this.#addresses = addresses;
    this.#timer = setInterval(() => this.#listen(), LISTEN_INTERVAL_MS);
    this.#timer.unref();
  }

  /**
   * A socket that is connected, or may be soon. Never rejects: the driver would lose count of its connections. It
   * hears of a failure from the socket itself.
   */
  async open(only: DriverOptions): Promise<Socket> {
    if (this.#addresses.length > 1) return this.#openNext();
    if (only.path) return this.#keep(connect(only.path));
    return this.#openTo({ host: only.host[0] ?? '', port: only.port[0] ?? 0 });
  }

  /**
   * Ends what has been silent for so long. A connection that is cut off without a word looks like one that has
   * nothing to say; ending an idle one costs nothing, because the driver opens another when it needs it.
   */
  cutOffSilent(timeoutMs: number): void {
    this.#listen();
    const deadlineMs = performance.now() - timeoutMs + LISTEN_INTERVAL_MS;
    for (const [socket, { atMs }] of this.#heard) {
      // Once the driver has sent what it was about to send: it would send that first on the next connection.
      if (atMs <= deadlineMs) setImmediate(() => socket.destroy());
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Each attempt begins with another server, so that one that accepts but is of no use is passed over. */
  async #openNext(): Promise<Socket> {
    const count = this.#addresses.length;
    const first = this.#attempts;
    this.#attempts += 1;
    if (first >= count && first % count === 0) await Bun.sleep(ROUND_PAUSE_MS);
    const inTurn = this.#addresses.map((_, i) => this.#addresses[(first + i) % count] as ServerAddress);
    const [last] = inTurn.splice(-1) as [ServerAddress];
    for (const address of inTurn) {
      const socket = this.#openTo(address);
      if (await isConnected(socket)) return socket;
      socket.destroy();
    }
    return this.#openTo(last);
  }

  #openTo({ host, port }: ServerAddress): Socket {
    // The driver looks for the name that a certificate must carry at the socket.
    return this.#keep(Object.assign(connect(port, host), { host, port }));
  }

  /** The driver takes all listeners away when it turns to TLS, so what was heard is counted instead. */
  #keep(socket: Socket): Socket {
    this.#heard.set(socket, { bytes: 0, atMs: performance.now() });
    return socket;
  }

  #listen(): void {
    for (const [socket, heard] of this.#heard) {
      if (socket.destroyed) this.#heard.delete(socket);
      else if (socket.bytesRead !== heard.bytes) {
        heard.bytes = socket.bytesRead;
        heard.atMs = performance.now();
      }
    }
  }
}

function isConnected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), NEXT_SERVER_MS);
    const settle = (connected: boolean) => () => {
      clearTimeout(timer);
      resolve(connected);
    };
    socket.once('connect', settle(true));
    // Stays, so that an error that comes too late has a listener.
    socket.on('error', settle(false));
  });
}
