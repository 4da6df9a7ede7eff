// Generates load without external tools: pipelined requests over one connection. All responses must have the same length,
// because only bytes are counted, which leaves nearly all CPU time to the server.

const BUNDLE = 16;

/**
 * Returns requests per second over the given time. Ends early if the server closes the connection, which can happen on a busy
 * machine.
 */
export async function measurePipelined(
  url: string,
  headers: Readonly<Record<string, string>>,
  ms: number,
): Promise<number> {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
  let isClosed = false;
  let onBytes = (_: Buffer) => {};
  let onEnd = () => {};
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => onBytes(bytes),
      close() {
        isClosed = true;
        onEnd();
      },
    },
  });
  const bytesOfOne = await new Promise<number>((resolve, reject) => {
    let head = '';
    onEnd = () => reject(new Error(`${url} closed the connection`));
    onBytes = (bytes) => {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      const length = /^content-length: (\d+)/im.exec(head)?.[1];
      if (end < 0) return;
      if (!head.startsWith('HTTP/1.1 200') || length === undefined) reject(new Error(head.slice(0, end)));
      const whole = end + 4 + Number(length);
      if (head.length === whole) resolve(whole);
    };
    socket.write(request);
  });
  const bundle = request.repeat(BUNDLE);
  const startedMs = performance.now();
  let count = 0;
  while (performance.now() - startedMs < ms) {
    let awaitedBytes = BUNDLE * bytesOfOne;
    await new Promise<void>((resolve) => {
      onEnd = resolve;
      onBytes = (bytes) => {
        awaitedBytes -= bytes.length;
        if (awaitedBytes === 0) resolve();
      };
      socket.write(bundle);
    });
    if (isClosed) break;
    count += BUNDLE;
  }
  socket.end();
  return (count * 1000) / (performance.now() - startedMs);
}
