// A raw keep-alive connection that sends prepared bytes unchanged. `request` reads only the status of a response and does so
// little work that a load test measures the service, not this client. `exchange` reads strictly: anything other than exactly
// one valid HTTP message is an error.

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Socket } from 'bun';
import type { Answer } from '../../support/documented-answers.ts';

/** A response from the service, a bare rejection by Bun's parser, or a closed connection. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'refusal'; readonly status: number }
  | { readonly kind: 'closed' };

/** Longer than any response takes. A server that neither responds nor closes the connection in this time has failed. */
const RESPONSE_MAX_MS = 60_000;
const HEAD_END = Buffer.from('\r\n\r\n');
const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
};
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?$/;

export class HttpConnection implements Disposable {
  isOpen = true;
  #socket: Socket | undefined;
  #chunks: Buffer[] = [];
  #wake: (() => void) | undefined;

  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    const connection = new HttpConnection();
    const end = () => connection.#end();
    connection.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, chunk) => connection.#receive(chunk), close: end, end, error: end },
    });
    return connection;
  }

  /** The file descriptor. Bun's sockets have this property, but their types do not. */
  get fd(): number {
    return (this.#socket as unknown as { readonly fd: number }).fd;
  }

  /** Sends a request, waits for the whole response and returns its status; rejects if the connection ends first. */
  request(bytes: Uint8Array, limitMs = RESPONSE_MAX_MS): Promise<number> {
    return this.#within(limitMs, async () => {
      this.#write(bytes);
      const head = await this.#head();
      if (head === undefined) throw new Error('the connection was closed');
      let missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      while (true) {
        for (const chunk of this.#chunks) missing -= chunk.length;
        this.#chunks = [];
        if (missing <= 0) break;
        if (!(await this.#more())) throw new Error('the connection was closed within a response');
      }
      if (/\r\nconnection: close/i.test(head)) this.close();
      return Number(head.slice(9, 12));
    });
  }

  /** Sends one request and returns its outcome. With the rest 'any', more bytes may follow the response. */
  exchange(bytes: Uint8Array, method: string, rest: 'none' | 'any' = 'none'): Promise<Outcome> {
    return this.#within(RESPONSE_MAX_MS, async () => {
      this.#write(bytes);
      const outcome = await this.#readOutcome(method);
      const more = this.#received();
      if (rest === 'none' && more.length > 0)
        throw new Error(`bytes after the response: ${more.toString('latin1')}`);
      return outcome;
    });
  }

  close(): void {
    this.isOpen = false;
    this.#socket?.end();
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#socket?.terminate();
  }

  /** Cuts the connection if the work fails or takes longer, so that later bytes are not mistaken for the next response. */
  async #within<Result>(limitMs: number, work: () => Promise<Result>): Promise<Result> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this[Symbol.dispose]();
    }, limitMs);
    try {
      const result = await work();
      if (!isLate) return result;
    } catch (error) {
      this[Symbol.dispose]();
      if (!isLate) throw error;
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`no response within ${limitMs / 1_000} s`);
  }

  #write(bytes: Uint8Array): void {
    if (!this.isOpen) throw new Error('the connection was closed before the request was sent');
    const written = this.#socket?.write(bytes) ?? 0;
    // The largest request is far smaller than a socket's buffer.
    if (written < bytes.length && this.isOpen) throw new Error(`only ${written} bytes could be sent`);
  }

  /** Waits for more bytes; returns false if the connection is closed. */
  async #more(): Promise<boolean> {
    if (!this.isOpen) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    return true;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  #end(): void {
    this.isOpen = false;
    this.#socket?.end();
    this.#wake?.();
  }

  #received(): Buffer {
    const [only] = this.#chunks;
    if (this.#chunks.length === 1 && only !== undefined) return only;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  /** Reads a status line and headers; undefined if the connection is closed first. */
  async #head(): Promise<string | undefined> {
    let end = -1;
    while (end < 0) {
      if (this.#chunks.length > 0) end = this.#received().indexOf(HEAD_END);
      if (end < 0 && !(await this.#more())) return undefined;
    }
    const received = this.#received();
    this.#chunks = [received.subarray(end + HEAD_END.length)];
    return received.toString('latin1', 0, end);
  }

  async #readOutcome(method: string): Promise<Outcome> {
    const head = await this.#head();
    if (head === undefined) {
      const received = this.#received();
      if (received.length > 0) throw new Error(`an incomplete response: ${received.toString('latin1')}`);
      return { kind: 'closed' };
    }
    const { status, headers } = parseHead(head);
    if (status === 100) return this.#readOutcome(method);
    if (isBareRefusal(headers)) {
      while (await this.#more());
      return { kind: 'refusal', status };
    }
    const body = await this.#readBody(status, headers, method);
    if (headers.get('Connection') === 'close') while (await this.#more());
    return { kind: 'answer', answer: { status, headers, body } };
  }

  async #readBody(status: number, headers: Headers, method: string): Promise<string> {
    if (method === 'HEAD' || status === 204 || status === 304) return '';
    const length = Number(headers.get('Content-Length') ?? Number.NaN);
    if (!Number.isInteger(length)) throw new Error('a response without a Content-Length');
    while (this.#received().length < length && (await this.#more()));
    const received = this.#received();
    if (received.length < length) throw new Error('a response that is shorter than its Content-Length');
    this.#chunks = [received.subarray(length)];
    const coding = headers.get('Content-Encoding') ?? 'identity';
    const unpack = DECODERS[coding];
    if (unpack === undefined) throw new Error(`unknown coding ${coding}`);
    return new TextDecoder('utf-8', { fatal: true }).decode(unpack(received.subarray(0, length)));
  }
}

function parseHead(head: string): { status: number; headers: Headers } {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) throw new Error(`not a status line: ${statusLine}`);
  const headers = new Headers();
  for (const line of lines) {
    const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`);
    if (headers.has(name)) throw new Error(`the header ${name} was sent twice`);
    headers.set(name, value);
  }
  return { status: Number(status), headers };
}

/**
 * Bun's parser rejects a request with only a status line and `Connection: close`. The service's responses have more headers.
 */
function isBareRefusal(headers: Headers): boolean {
  return [...headers.keys()].join() === 'connection' && headers.get('Connection') === 'close';
}

/** A GET request as it goes over the wire. */
export function getRequest(path: string, token?: string): Uint8Array {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: offerbook\r\n${authorization}\r\n`);
}
