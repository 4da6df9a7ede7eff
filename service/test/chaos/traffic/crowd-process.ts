// A crowd of hostile clients, in a process of its own so that it does not distort the measurements of well-behaved clients:
// `crowd-process.ts URL CROWD`, with CROWD as JSON and a token as the first line of stdin. Prints "under way", then at the end
// of stdin its counts.
//
// Some clients hold connections for as long as they can: they send headers byte by byte, send nothing, or never read the
// response. Others connect, send something malformed and disconnect, or pipeline requests.

import { Random } from '@offerbook/sandbox/random.ts';
import type { Socket } from 'bun';
import type { Crowd, CrowdCounts } from './crowd.ts';

const TRICKLE_MS = 1_000;
/** How long a client that has sent something malformed waits for a response. */
const PATIENCE_MS = 300;
/** Pause between such clients. They should not cause a high load, which is the subject of another test. */
const PAUSE_MS = 200;
const BODY = 'x'.repeat(10_000);
const PIPELINED = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
const ENDLESS = Buffer.from(PIPELINED.repeat(10_000));
/** A flood has received this much after hundreds of reconnects. */
const UNDER_WAY_BYTES = 1_000_000;

const [, , url = '', crowdJson = '{}'] = process.argv;
const { held = 0, floods = 0, burst = 0, seed = 0 } = JSON.parse(crowdJson) as Crowd;
const { hostname, port } = new URL(url);
const random = new Random(seed);
const counts: CrowdCounts = { opened: 0, cutOff: 0, receivedBytes: 0 };
const ended = Promise.withResolvers<void>();
let [token, stopped, isUnderWay] = ['', false, false];

const head = (more = '', limit = 1) =>
  `GET /v1/cashback-offers/?limit=${limit} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}`;

/** The malformed input that each kind of client sends. */
const ODD: Record<string, () => string | Uint8Array> = {
  'a body with GET': () => `${head(`Content-Length: ${BODY.length}\r\n`)}\r\n${BODY}`,
  'a body that never comes': () => `${head('Content-Length: 100000\r\n')}\r\n`,
  'a chunked body with GET': () => `${head('Transfer-Encoding: chunked\r\n')}\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a bad chunk': () => `${head('Transfer-Encoding: chunked\r\n')}\r\nzz\r\nhello\r\n`,
  'a pipeline': () => `${head()}\r\n`.repeat(20),
  'a length and a coding': () =>
    `${head('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n`,
  'two lengths': () => `${head('Content-Length: 5\r\nContent-Length: 6\r\n')}\r\nhello!`,
  'a length that is none': () => `${head('Content-Length: -1\r\n')}\r\n`,
  'a coding that is none': () => `${head('Transfer-Encoding: xchunked\r\n')}\r\n0\r\n\r\n`,
  '100 KB of headers': () => `${head(`X: ${'a'.repeat(100_000)}\r\n`)}\r\n`,
  'a thousand headers': () => `${head(Array.from({ length: 1_000 }, (_, i) => `X${i}: a\r\n`).join(''))}\r\n`,
  'half a request': () => head().slice(0, 40),
  'NUL in a header': () => `${head('X: a\0b\r\n')}\r\n`,
  'TLS to a plain port': () =>
    Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03),
  garbage: () => Uint8Array.from({ length: 2_000 }, () => random.whole(0, 255)),
};

interface Client {
  readonly reads?: boolean;
  readonly send?: (socket: Socket) => void;
  readonly onData?: (socket: Socket, bytes: Buffer) => void;
}

/** Opens a connection. The returned promise resolves when the server has closed it, or at the end. */
async function connect({ reads = true, send, onData }: Client): Promise<[Socket, Promise<void>]> {
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    allowHalfOpen: true,
    socket: {
      open(it) {
        if (!reads) it.pause();
        send?.(it);
      },
      drain: (it) => send?.(it),
      data(it, bytes) {
        counts.receivedBytes += bytes.length;
        onData?.(it, bytes);
        noteProgress();
      },
      end: (it) => void it.end(),
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  counts.opened += 1;
  noteProgress();
  return [socket, Promise.race([closed.promise, ended.promise])];
}

function noteProgress(): void {
  if (isUnderWay || counts.opened < held || (floods > 0 && counts.receivedBytes < UNDER_WAY_BYTES)) return;
  isUnderWay = true;
  process.stdout.write('under way\n');
}

async function trickle(): Promise<void> {
  const [socket, over] = await connect({});
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  const bytes = head(`X: ${'a'.repeat(10_000)}`);
  for (let i = 0; !isOver; i++) {
    socket.write(bytes[i % bytes.length] ?? '');
    // Each client has its own random pace, so that their bytes do not arrive together and cost the server only one wake-up.
    await Promise.race([Bun.sleep(random.whole(TRICKLE_MS / 2, TRICKLE_MS * 1.5)), over]);
  }
  socket.terminate();
}

async function hold(client: Client): Promise<void> {
  const [socket, over] = await connect(client);
  await over;
  socket.terminate();
}

/** The ways to hold a connection. */
const HOLDING = [
  trickle,
  () => hold({}),
  () => hold({ reads: false, send: (socket) => void socket.write(`${head('', 1_000)}\r\n`) }),
];

async function comeAndGo(number: number): Promise<void> {
  const kinds = Object.values(ODD);
  for (let i = number; !stopped; i += 1) {
    const [socket, over] = await connect({});
    socket.write(kinds[i % kinds.length]?.() ?? '');
    // A third of the clients half-close the connection immediately, and another third reset it.
    if (i % 3 === 0) socket.shutdown();
    await Promise.race([over, Bun.sleep(PATIENCE_MS)]);
    if (i % 3 === 1) socket.terminate();
    else socket.end();
    await Bun.sleep(PAUSE_MS);
  }
}

/** Sends requests without end, or a burst after which it reconnects. */
async function flood(): Promise<void> {
  let [sent, responses] = [0, ''];
  const sendEndlessly = (socket: Socket) => {
    // Write only a few times in a row, to leave time for reading.
    for (let times = 0; times < 4; times++) {
      const written = socket.write(ENDLESS.subarray(sent));
      if (written <= 0) return;
      sent = (sent + written) % ENDLESS.length;
    }
  };
  const countResponses = (socket: Socket, bytes: Buffer) => {
    responses += bytes.toString('latin1');
    if (responses.split('HTTP/1.1 ').length > burst) socket.terminate();
  };
  const [socket, over] = await connect(
    burst === 0
      ? { send: sendEndlessly, onData: sendEndlessly }
      : {
          send(socket) {
            if (sent++ === 0) socket.write(PIPELINED.repeat(burst));
          },
          onData: countResponses,
        },
  );
  await over;
  socket.terminate();
}

/** Starts again when the server has closed the connection or refused it. */
async function repeat(act: (number: number) => Promise<void>, number: number): Promise<void> {
  while (!stopped) {
    await act(number).then(
      () => {
        if (!stopped) counts.cutOff += 1;
      },
      () => Bun.sleep(10),
    );
  }
}

const clients: Promise<void>[] = [];
const add = (count: number, act: (number: number) => Promise<void>) =>
  clients.push(...Array.from({ length: count }, (_, i) => repeat(act, i)));
const decoder = new TextDecoder();
for await (const chunk of Bun.stdin.stream()) {
  token = (token + decoder.decode(chunk)).trim();
  add(held, (i) => (HOLDING[i % HOLDING.length] ?? trickle)());
  add(Math.ceil(held / 20), comeAndGo);
  add(floods, flood);
}
stopped = true;
ended.resolve();
await Promise.all(clients);
process.stdout.write(`${JSON.stringify(counts)}\n`);
process.exit(0);
