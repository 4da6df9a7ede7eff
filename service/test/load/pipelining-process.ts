// A client that pipelines requests, reads the responses and reconnects when it is cut off: `pipelining-process.ts URL
// CONNECTIONS BURST`. With a burst of 0, each connection sends requests without end; otherwise, it sends that many at once and
// reconnects after the responses. This is a separate process, so that it does not distort the measurements of the well-behaved
// client. Stops at the end of stdin and prints its counts.

const [url = '', connections = '1', burst = '0'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const REQUEST = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
const BYTES = Buffer.from(REQUEST.repeat(10_000));
/** The flood has received this much after hundreds of reconnects. */
const UNDER_WAY_BYTES = 1_000_000;
const BURST = REQUEST.repeat(Number(burst));

const stats = { connections: 0, receivedBytes: 0 };
let stopped = false;
let isUnderWay = false;

function countBytes({ length }: Uint8Array): void {
  stats.receivedBytes += length;
  if (isUnderWay || stats.receivedBytes < UNDER_WAY_BYTES) return;
  isUnderWay = true;
  process.stdout.write('under way\n');
}

async function floodWithoutEnd(): Promise<void> {
  const closed = Promise.withResolvers<void>();
  let sent = 0;
  const send = (socket: Bun.Socket) => {
    // Write only a few times in a row, to leave time for reading.
    for (let times = 0; times < 4; times++) {
      const written = socket.write(BYTES.subarray(sent));
      if (written <= 0) return;
      sent = (sent + written) % BYTES.length;
    }
  };
  stats.connections += 1;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: send,
      drain: send,
      data(each, bytes) {
        countBytes(bytes);
        send(each);
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  await Promise.race([closed.promise, ended.promise]);
  socket.terminate();
}

async function sendBurst(): Promise<void> {
  const closed = Promise.withResolvers<void>();
  let responses = '';
  stats.connections += 1;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (each) => void each.write(BURST),
      data(each, bytes) {
        countBytes(bytes);
        responses += bytes.toString('latin1');
        if (responses.split('HTTP/1.1 ').length > Number(burst)) each.terminate();
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  await Promise.race([closed.promise, ended.promise]);
  socket.terminate();
}

const ended = Promise.withResolvers<void>();
const flood = BURST === '' ? floodWithoutEnd : sendBurst;
const flooding = Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (!stopped) await flood().catch(() => Bun.sleep(10));
  }),
);
for await (const _ of Bun.stdin.stream());
stopped = true;
ended.resolve();
await flooding;
process.stdout.write(`${JSON.stringify(stats)}\n`);
process.exit(0);
