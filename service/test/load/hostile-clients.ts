// A crowd of hostile clients. Some hold connections for as long as they can: they send headers byte by byte, send nothing, or
// never read the response. Others connect, send something malformed, and disconnect.

import { Random } from '@offerbook/sandbox/random.ts';
import type { Socket } from 'bun';

const TRICKLE_MS = 1_000;
/** How long a client that has sent something malformed waits for a response. */
const PATIENCE_MS = 300;
/** Pause between such clients. They should not cause a high load, which is the subject of another test. */
const PAUSE_MS = 200;
const BODY = 'x'.repeat(10_000);

export interface HostileCrowd {
  /** Number of connections opened, and number of held connections that the server closed. */
  readonly opened: number;
  readonly cutOff: number;
  stop(): Promise<void>;
}

export interface HostileOptions {
  readonly url: string;
  readonly token: string;
  /** Number of held connections of all kinds. In addition, a twentieth of this number of clients keep reconnecting. */
  readonly held: number;
  readonly seed: number;
}

const head = (token: string, more = '', limit = 1) =>
  `GET /v1/cashback-offers/?limit=${limit} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}`;

/** The malformed input that each kind of client sends. */
const ODD: Record<string, (token: string, random: Random) => string | Uint8Array> = {
  'a body with GET': (token) => `${head(token, `Content-Length: ${BODY.length}\r\n`)}\r\n${BODY}`,
  'a body that never comes': (token) => `${head(token, 'Content-Length: 100000\r\n')}\r\n`,
  'a chunked body with GET': (token) =>
    `${head(token, 'Transfer-Encoding: chunked\r\n')}\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a bad chunk': (token) => `${head(token, 'Transfer-Encoding: chunked\r\n')}\r\nzz\r\nhello\r\n`,
  'a pipeline': (token) => `${head(token)}\r\n`.repeat(20),
  'a length and a coding': (token) =>
    `${head(token, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n`,
  'two lengths': (token) => `${head(token, 'Content-Length: 5\r\nContent-Length: 6\r\n')}\r\nhello!`,
  'a length that is none': (token) => `${head(token, 'Content-Length: -1\r\n')}\r\n`,
  'a coding that is none': (token) => `${head(token, 'Transfer-Encoding: xchunked\r\n')}\r\n0\r\n\r\n`,
  '100 KB of headers': (token) => `${head(token, `X: ${'a'.repeat(100_000)}\r\n`)}\r\n`,
  'a thousand headers': (token) =>
    `${head(token, Array.from({ length: 1_000 }, (_, i) => `X${i}: a\r\n`).join(''))}\r\n`,
  'half a request': (token) => head(token).slice(0, 40),
  'NUL in a header': (token) => `${head(token, 'X: a\0b\r\n')}\r\n`,
  'TLS to a plain port': () =>
    Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03),
  garbage: (_, random) => Uint8Array.from({ length: 2_000 }, () => random.whole(0, 255)),
};

export function startHostileCrowd({ url, token, held, seed }: HostileOptions): HostileCrowd {
  const { hostname, port } = new URL(url);
  const random = new Random(seed);
  const stats = { opened: 0, cutOff: 0 };
  let stopped = false;

  const connect = (onClose: () => void = () => {}, reads = true) => {
    stats.opened += 1;
    return Bun.connect({
      hostname,
      port: Number(port),
      allowHalfOpen: true,
      socket: {
        open: (socket) => void (reads || socket.pause()),
        data: () => {},
        end: (socket) => void socket.end(),
        close: onClose,
        error: () => {},
      },
    });
  };

  /** Holds a connection, and opens another if the server closes it. */
  async function hold(reads: boolean, keepBusy: (socket: Socket, until: Promise<void>) => Promise<void>) {
    while (!stopped) {
      const closed = Promise.withResolvers<void>();
      try {
        const socket = await connect(closed.resolve, reads);
        await keepBusy(socket, Promise.race([closed.promise, ended.promise]));
        if (!stopped) stats.cutOff += 1;
        socket.terminate();
      } catch {
        await Bun.sleep(PATIENCE_MS);
      }
    }
  }

  async function trickle(socket: Socket, until: Promise<void>): Promise<void> {
    let over = false;
    void until.then(() => {
      over = true;
    });
    const bytes = head(token, `X: ${'a'.repeat(10_000)}`);
    for (let i = 0; !over; i++) {
      socket.write(bytes[i % bytes.length] ?? '');
      // Each client has its own random pace, so that their bytes do not arrive together and cost the server only one wake-up.
      await Promise.race([Bun.sleep(random.whole(TRICKLE_MS / 2, TRICKLE_MS * 1.5)), until]);
    }
  }

  async function sayNothing(_: Socket, until: Promise<void>): Promise<void> {
    await until;
  }

  async function askAndNeverRead(socket: Socket, until: Promise<void>): Promise<void> {
    socket.write(`${head(token, '', 1_000)}\r\n`);
    await until;
  }

  async function comeAndGo(number: number): Promise<void> {
    const kinds = Object.values(ODD);
    for (let i = number; !stopped; i++) {
      const closed = Promise.withResolvers<void>();
      try {
        const socket = await connect(closed.resolve);
        socket.write(kinds[i % kinds.length]?.(token, random) ?? '');
        // A third of the clients half-close the connection immediately, and another third reset it.
        if (i % 3 === 0) socket.shutdown();
        await Promise.race([closed.promise, Bun.sleep(PATIENCE_MS), ended.promise]);
        if (i % 3 === 1) socket.terminate();
        else socket.end();
      } catch {
        // The server has already closed the connection.
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  const ended = Promise.withResolvers<void>();
  const holding = [
    { reads: true, keepBusy: trickle },
    { reads: true, keepBusy: sayNothing },
    { reads: false, keepBusy: askAndNeverRead },
  ];
  const clients = [
    ...Array.from({ length: held }, (_, i) => {
      const { reads, keepBusy } = holding[i % holding.length] ?? { reads: true, keepBusy: sayNothing };
      return hold(reads, keepBusy);
    }),
    ...Array.from({ length: Math.ceil(held / 20) }, (_, i) => comeAndGo(i)),
  ];
  return {
    get opened() {
      return stats.opened;
    },
    get cutOff() {
      return stats.cutOff;
    },
    async stop() {
      stopped = true;
      ended.resolve();
      await Promise.all(clients);
    },
  };
}
