// The sockets to PostgreSQL. The driver asks for them and speaks on them; here it is decided to which of
// several servers the next one leads, and those from which nothing is heard any more are cut off.

import { connect, type Socket } from 'node:net';

const LISTEN_INTERVAL_MS = 500;

/** One of several servers. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  /** The URL of the database on this server alone. */
  readonly url: string;
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
  readonly #servers: readonly PostgresServer[];
  readonly #isMeant: (url: string) => Promise<boolean>;
  readonly #heard = new Map<Socket, Heard>();
  readonly #timer: Timer;
  #search: Promise<PostgresServer | undefined> | undefined;

  /** Of a URL that names several servers, all of them; for any other, none: the driver knows where it leads. */
  constructor(servers: readonly PostgresServer[], isMeant: (url: string) => Promise<boolean>) {
    this.#servers = servers;
    this.#isMeant = isMeant;
    this.#timer = setInterval(() => this.#listen(), LISTEN_INTERVAL_MS);
    this.#timer.unref();
  }

  /**
   * A socket that may be connected soon. Never rejects: the driver would lose count of its connections. It hears
   * of a failure from the socket itself.
   */
  async open({ host, port, path }: DriverOptions): Promise<Socket> {
    if (path) return this.#keep(connect(path));
    const server = (await this.#findServer()) ?? { host: host[0] ?? '', port: port[0] ?? 0 };
    const socket = connect(server.port, server.host);
    // The driver looks here for the name that a certificate must carry, and for what it tells of a failure.
    return this.#keep(Object.assign(socket, { host: server.host, port: server.port }));
  }

  /**
   * Ends what has been silent for so long. A connection that is cut off without a word looks like one that has
   * nothing to say; ending an idle one costs nothing, because the driver opens another when it needs it.
   */
  cutOffSilent(timeoutMs: number): void {
    this.#listen();
    const deadlineMs = performance.now() - timeoutMs + LISTEN_INTERVAL_MS;
    for (const [socket, { atMs }] of this.#heard) {
      if (atMs <= deadlineMs) socket.destroy();
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One search serves all who need it at the same time. */
  #findServer(): Promise<PostgresServer | undefined> {
    if (this.#servers.length === 0) return Promise.resolve(undefined);
    this.#search ??= firstOf(this.#servers, ({ url }) => this.#isMeant(url)).finally(() => {
      this.#search = undefined;
    });
    return this.#search;
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

/** The first to be found right; undefined when none is. Those that do not answer hold nobody up. */
async function firstOf<T>(all: readonly T[], isRight: (each: T) => Promise<boolean>): Promise<T | undefined> {
  const searches = all.map(async (each) => {
    if (await isRight(each)) return each;
    throw new Error('not this one');
  });
  return Promise.any(searches).catch(() => undefined);
}
