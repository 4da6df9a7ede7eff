// Load without any tool, for a quick look: requests in bundles over one connection. The answers must all be of
// the same length, because nothing is counted but bytes; that leaves almost all of the time to the server.

const BUNDLE = 16;

export interface Pipeline {
  /** Requests a second, over so long. */
  measure(ms: number): Promise<number>;
  close(): void;
}

export async function openPipeline(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Pipeline> {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
  let awaitedBytes = 0;
  let onBundle = () => {};
  let onText: ((text: string) => void) | undefined;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        onText?.(bytes.toString('latin1'));
        awaitedBytes -= bytes.length;
        if (awaitedBytes === 0) onBundle();
      },
    },
  });
  const bytesOfOne = await new Promise<number>((resolve) => {
    let head = '';
    onText = (text) => {
      head += text;
      const end = head.indexOf('\r\n\r\n');
      const length = /^content-length: (\d+)/im.exec(head)?.[1];
      if (end < 0) return;
      if (!head.startsWith('HTTP/1.1 200') || length === undefined) throw new Error(head.slice(0, end));
      const whole = end + 4 + Number(length);
      if (head.length === whole) resolve(whole);
    };
    socket.write(request);
  });
  onText = undefined;
  const bundle = request.repeat(BUNDLE);
  return {
    async measure(ms) {
      const startedMs = performance.now();
      let count = 0;
      while (performance.now() - startedMs < ms) {
        awaitedBytes = BUNDLE * bytesOfOne;
        const received = new Promise<void>((resolve) => {
          onBundle = resolve;
        });
        socket.write(bundle);
        await received;
        count += BUNDLE;
      }
      return (count * 1000) / (performance.now() - startedMs);
    },
    close: () => socket.end(),
  };
}
