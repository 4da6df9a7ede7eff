// A connection that sends bytes unchanged, where an HTTP client would correct or reject them, and reads responses strictly:
// anything other than exactly one HTTP message is an error.

import { brotliDecompressSync } from 'node:zlib';
import type { Answer } from '../support/documented-answers.ts';

/** A response from the service, a bare rejection by Bun's parser, or a closed connection. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'refusal'; readonly status: number }
  | { readonly kind: 'closed' };

/** Longer than any response takes. A server that neither responds nor closes the connection in this time has failed. */
const PATIENCE_MS = 60_000;
const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Sends requests one after the other on a keep-alive connection, or on a new one if the server has closed it. */
export class RawConnection implements Disposable {
  readonly #url: URL;
  #wire: Wire | undefined;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /**
   * Sends one request and returns its outcome. Throws if the server sends anything other than exactly one valid HTTP message.
   */
  async send(bytes: Uint8Array, method: string): Promise<Outcome> {
    const kept = this.#wire?.closed === false ? this.#wire : undefined;
    if (kept !== undefined) {
      const outcome = await this.#sendOn(kept, bytes, method);
      // The server may have closed the idle connection, so send the request again on a new one.
      if (outcome.kind !== 'closed') return outcome;
    }
    this.#wire = await Wire.open(this.#url);
    return this.#sendOn(this.#wire, bytes, method);
  }

  /** Sends bytes that may not be a request, or may be two, on a separate connection; returns the first outcome. */
  async sendBroken(bytes: Uint8Array, method: string): Promise<Outcome> {
    const wire = await Wire.open(this.#url);
    const outcome = await this.#sendOn(wire, bytes, method, 'any');
    wire.cut();
    return outcome;
  }

  [Symbol.dispose](): void {
    this.#wire?.cut();
  }

  async #sendOn(
    wire: Wire,
    bytes: Uint8Array,
    method: string,
    rest: 'none' | 'any' = 'none',
  ): Promise<Outcome> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      wire.cut();
    }, PATIENCE_MS);
    try {
      wire.write(bytes);
      const outcome = await readOutcome(wire, method);
      if (isLate) throw new Error('the server neither responded nor closed the connection');
      if (rest === 'none' && wire.received.length > 0)
        throw new Error(`bytes after the response: ${wire.received.toString('latin1')}`);
      return outcome;
    } catch (error) {
      // Later bytes on this connection must not be mistaken for the next response.
      wire.cut();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A socket and the bytes received on it. */
class Wire {
  received: Buffer = Buffer.alloc(0);
  closed = false;
  #socket: Bun.Socket | undefined;
  #wake = Promise.withResolvers<void>();

  static async open({ hostname, port }: URL): Promise<Wire> {
    const wire = new Wire();
    const end = () => wire.#end();
    wire.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, chunk) => wire.#take(chunk), close: end, end, error: end },
    });
    return wire;
  }

  write(bytes: Uint8Array): void {
    const written = this.#socket?.write(bytes) ?? 0;
    // The largest request is far smaller than a socket's buffer.
    if (written < bytes.length && !this.closed) throw new Error(`only ${written} bytes could be sent`);
  }

  /** Waits for more bytes; returns false if the connection is closed. */
  async more(): Promise<boolean> {
    if (this.closed) return false;
    this.#wake = Promise.withResolvers();
    await this.#wake.promise;
    return true;
  }

  cut(): void {
    this.#end();
    this.#socket?.terminate();
  }

  #take(chunk: Uint8Array): void {
    this.received = Buffer.concat([this.received, chunk]);
    this.#wake.resolve();
  }

  #end(): void {
    this.closed = true;
    this.#wake.resolve();
  }
}

async function readOutcome(wire: Wire, method: string): Promise<Outcome> {
  let end = wire.received.indexOf(HEAD_END);
  while (end < 0 && (await wire.more())) end = wire.received.indexOf(HEAD_END);
  if (end < 0) {
    if (wire.received.length > 0)
      throw new Error(`an incomplete response: ${wire.received.toString('latin1')}`);
    return { kind: 'closed' };
  }
  const { status, headers } = parseHead(wire.received.subarray(0, end).toString('latin1'));
  wire.received = wire.received.subarray(end + HEAD_END.length);
  if (status === 100) return readOutcome(wire, method);
  if (isBareRefusal(headers)) {
    while (await wire.more());
    return { kind: 'refusal', status };
  }
  const body = await readBody(wire, status, headers, method);
  if (headers.get('Connection') === 'close') while (await wire.more());
  return { kind: 'answer', answer: { status, headers, body } };
}

async function readBody(wire: Wire, status: number, headers: Headers, method: string): Promise<string> {
  if (method === 'HEAD' || status === 204 || status === 304) return '';
  const length = Number(headers.get('Content-Length') ?? Number.NaN);
  if (!Number.isInteger(length)) throw new Error('a response without a Content-Length');
  while (wire.received.length < length && (await wire.more()));
  if (wire.received.length < length) throw new Error('a response that is shorter than its Content-Length');
  const body = wire.received.subarray(0, length);
  wire.received = wire.received.subarray(length);
  return unpack(body, headers.get('Content-Encoding'));
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

function unpack(body: Buffer, coding: string | null): string {
  switch (coding) {
    case null:
      return new TextDecoder('utf-8', { fatal: true }).decode(body);
    case 'zstd':
      return Bun.zstdDecompressSync(body).toString();
    case 'br':
      return brotliDecompressSync(body).toString();
    case 'gzip':
      return Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString();
    default:
      throw new Error(`unknown coding ${coding}`);
  }
}
