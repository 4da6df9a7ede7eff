// A client that sends requests without end on one connection and reads the answers, and connects again when it is cut off:
// `pipelining-process.ts URL`. In a process of its own, so that the good client's clock is not slowed down by it. Ends when
// stdin does, and prints what was done.

const [url = ''] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const BYTES = Buffer.from('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10_000));

const stats = { connections: 0, receivedBytes: 0 };
let stopped = false;

async function flood(): Promise<void> {
  const closed = Promise.withResolvers<void>();
  let sent = 0;
  const send = (socket: Bun.Socket) => {
    // A few times in a row only, so that there is time to read, too.
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
        stats.receivedBytes += bytes.length;
        send(each);
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  await Promise.race([closed.promise, ended.promise]);
  socket.terminate();
}

const ended = Promise.withResolvers<void>();
const flooding = (async () => {
  while (!stopped) await flood().catch(() => Bun.sleep(10));
})();
process.stdout.write('started\n');
for await (const _ of Bun.stdin.stream());
stopped = true;
ended.resolve();
await flooding;
process.stdout.write(`${JSON.stringify(stats)}\n`);
process.exit(0);
