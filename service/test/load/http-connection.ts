// A keep-alive connection that sends prepared bytes and reads only the status of each response. It does so little work that a
// load test measures the service, not this client.

import type { Socket } from 'bun';

export class HttpConnection {
  readonly #socket: Socket<unknown>;
  #received: Buffer[] = [];
  #missing = 0;
  #status = 0;
  #waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;
  isOpen = true;

  private constructor(socket: Socket<unknown>) {
    this.#socket = socket;
  }

  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    const socket = await Bun.connect<{ connection?: HttpConnection }>({
      hostname,
      port: Number(port),
      data: {},
      socket: {
        data: ({ data }, chunk) => data.connection?.receive(chunk),
        close: ({ data }) => data.connection?.closed('the connection was closed'),
        error: ({ data }, error) => data.connection?.closed(error.message),
        end: (it) => void it.end(),
      },
    });
    socket.data.connection = new HttpConnection(socket);
    return socket.data.connection;
  }

  /** The file descriptor. Bun's sockets have this property, but their types do not. */
  get fd(): number {
    return (this.#socket as unknown as { readonly fd: number }).fd;
  }

  /** Sends a request, waits for the whole response and returns its status; rejects if the connection ends first. */
  request(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new Error('the connection was closed before the request was sent'));
      this.#waiting = { resolve, reject };
      if (this.#socket.write(bytes) < bytes.length)
        reject(new Error('a request did not fit into the socket'));
    });
  }

  close(): void {
    this.isOpen = false;
    this.#socket.end();
  }

  private receive(chunk: Buffer): void {
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
      if (this.#missing <= 0) this.#answered();
      return;
    }
    this.#received.push(chunk);
    const bytes = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    this.#received = [];
    this.#status = Number(head.slice(9, 12));
    if (/\r\nconnection: close/i.test(head)) this.isOpen = false;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    this.#missing = end + 4 + length - bytes.length;
    if (this.#missing <= 0) this.#answered();
  }

  #answered(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#missing = 0;
    if (!this.isOpen) this.#socket.end();
    waiting?.resolve(this.#status);
  }

  private closed(reason: string): void {
    this.isOpen = false;
    this.#waiting?.reject(new Error(reason));
    this.#waiting = undefined;
  }
}

/** A GET request as it goes over the wire. */
export function getRequest(path: string, token?: string): Uint8Array {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: offerbook\r\n${authorization}\r\n`);
}
