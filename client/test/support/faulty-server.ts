// A server on a real socket that responds slowly, incompletely, or not at all.

import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Responds to one request. `path` is the requested path. */
export type Step = (socket: Socket, path: string) => void;

/** Responds to every request with the same step. */
export async function startFaultyServer(step: Step) {
  const sockets = new Set<Socket>();
  /** The requested paths, in order. */
  const paths: string[] = [];
  const server = createServer((socket) => {
    let request = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1');
      if (!request.endsWith('\r\n\r\n')) return;
      const path = request.split(' ')[1] ?? '';
      request = '';
      paths.push(path);
      step(socket, path);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Raw {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: readonly string[];
  readonly body: string;
}

/** Sends a complete response and closes the connection. */
export function reply(answer: Raw): Step {
  return (socket) => void socket.end(head(answer, answer.body.length) + answer.body);
}

/** Sends a Content-Length and cuts the body off in the middle. */
export function cutOff(answer: Raw, how: 'end' | 'reset' = 'end'): Step {
  return (socket) => {
    socket.write(head(answer, answer.body.length) + answer.body.slice(0, answer.body.length / 2), () =>
      how === 'reset' ? socket.resetAndDestroy() : socket.end(),
    );
  };
}

/** Sends a chunked body without its last chunk. */
export function cutOffChunk(answer: Raw): Step {
  return (socket) =>
    void socket.end(`${head(answer, undefined)}${answer.body.length.toString(16)}\r\n${answer.body}\r\n`);
}

/** Sends headers without a body. */
export function stall(answer: Raw): Step {
  return (socket) => void socket.write(head(answer, answer.body.length));
}

export const silence: Step = () => {};
export const hangUp: Step = (socket) => void socket.destroy();
export const garbage: Step = (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n');

function head(
  { status = 200, type = 'application/json', headers = [] }: Raw,
  length: number | undefined,
): string {
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return [
    `HTTP/1.1 ${status} X`,
    `Content-Type: ${type}`,
    framing,
    'Connection: close',
    ...headers,
    '',
    '',
  ].join('\r\n');
}
