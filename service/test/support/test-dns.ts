// A DNS server on loopback that answers each query for the IPv4 addresses of a name with the next of its answers.

import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';

const NO_SUCH_NAME = 0x8183;
const NO_ERROR = 0x8180;

export class TestDns implements Disposable {
  /** The IPv4 addresses of each answer, by name. The last answer is repeated. */
  readonly answers = new Map<string, string[][]>();
  /** Number of queries, by name. */
  readonly queries = new Map<string, number>();
  readonly #socket: Socket;
  readonly #resolver = new Resolver();

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    socket.on('message', (query, from) => socket.send(this.#answer(query), from.port, from.address));
  }

  static async start(): Promise<TestDns> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new TestDns(socket);
  }

  /** Queries this server. */
  resolve(name: string): Promise<string[]> {
    return this.#resolver.resolve4(name);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const question = query.subarray(12, at + 5);
    const all = this.answers.get(name) ?? [];
    const number = this.queries.get(name) ?? 0;
    this.queries.set(name, number + 1);
    const addresses = all[Math.min(number, all.length - 1)] ?? [];
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(all.length === 0 ? NO_SUCH_NAME : NO_ERROR, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, question, ...records]);
  }
}
