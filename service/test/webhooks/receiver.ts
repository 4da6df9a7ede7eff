// A receiver of webhooks on loopback. It keeps a copy of the transactions as docs/webhooks.md describes: rows are upserted unless
// they are older than the stored ones.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { until } from '../support/until.ts';

export interface Delivery {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly page: Page;
  /** When the sender made the message, by its clock. */
  readonly madeAtMs: number;
  readonly arrivedAtMs: number;
}

/** A delivery with rows that were older than those of an earlier delivery. */
export interface Overtaken {
  readonly delivery: Delivery;
  readonly by: Delivery;
  readonly rows: number;
}

interface Page {
  readonly transactions: readonly Row[];
  readonly after: Timestamp | null;
  readonly completeThrough: Timestamp | null;
}

export interface Row {
  readonly id: Uuid;
  readonly updatedAt?: Timestamp;
  readonly text?: string;
}

/** A response; its rows are stored if the status is 2xx. `close` closes the connection instead. */
export type Reply = Response | { readonly status: number | 'close'; readonly stores: boolean };
export type Behaviour = (delivery: Delivery, number: number) => Reply | Promise<Reply>;

export const OK: Behaviour = () => new Response(null, { status: 204 });

export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  /** The rows of all deliveries that were stored. */
  readonly copy = new Map<Uuid, Row>();
  /** The delivery from which each row of the copy was stored. */
  readonly #sources = new Map<Uuid, Delivery>();
  behaviour: Behaviour;
  /** Greatest number of requests at the same time. Ignores delayed requests, and requests that the sender had given up. */
  concurrent = 0;
  /** The sender's time limit for a request. A busy receiver may notice only later that the sender has given up. */
  timeoutMs = Number.POSITIVE_INFINITY;
  /** The requests that were in progress when `concurrent` last increased. */
  simultaneous: readonly Delivery[] = [];
  readonly overtaken: Overtaken[] = [];
  /** Number of rows that were stored already. */
  repeated = 0;
  /** Returns true to close the connection before the body has arrived. */
  isCut: () => boolean = () => false;
  /** Returns true if the failure of a node has delayed the delivery. */
  isDelayed: (delivery: Delivery) => boolean = () => false;
  readonly #current = new Set<Delivery>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #port: number;

  constructor(behaviour: Behaviour = OK) {
    this.behaviour = behaviour;
    this.#port = (this.#server.listen(0, '127.0.0.1').address() as { port: number }).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** The `webhook-id` of each delivery. */
  get ids(): string[] {
    return this.deliveries.map(({ headers }) => headers.get('webhook-id') ?? '');
  }

  /** Waits until the copy has this many transactions. */
  async received(count: number): Promise<void> {
    await until(() => this.copy.size >= count);
  }

  async delivered(count: number): Promise<void> {
    await until(() => this.deliveries.length >= count);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isCut()) return void request.socket.destroy();
    try {
      const delivery = await readDelivery(request);
      if (!this.isDelayed(delivery)) this.#current.add(delivery);
      response.once('close', () => this.#current.delete(delivery));
      const isOpen = ({ madeAtMs }: Delivery) => delivery.madeAtMs - madeAtMs < this.timeoutMs;
      const open = [...this.#current].filter(isOpen);
      if (open.length > this.concurrent) {
        this.concurrent = open.length;
        this.simultaneous = open;
      }
      const reply = await this.behaviour(delivery, this.deliveries.push(delivery));
      const isResponse = reply instanceof Response;
      if (isResponse ? reply.ok : reply.stores) this.#store(delivery);
      const body = isResponse ? await reply.text() : '';
      // Before the sender gets the response and can send the next request.
      this.#current.delete(delivery);
      if (reply.status === 'close') request.socket.destroy();
      else if (!isResponse) response.writeHead(reply.status).end();
      else response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(body);
    } catch {
      // The sender has closed the connection.
      request.socket.destroy();
    }
  }

  #store(delivery: Delivery): void {
    const newer: Delivery[] = [];
    for (const row of delivery.page.transactions) {
      const known = this.copy.get(row.id);
      const source = this.#sources.get(row.id);
      const isOlder =
        known?.updatedAt !== undefined && row.updatedAt !== undefined && known.updatedAt > row.updatedAt;
      if (isOlder && source !== undefined) newer.push(source);
      else {
        if (known !== undefined && known.updatedAt === row.updatedAt) this.repeated++;
        this.copy.set(row.id, row);
        this.#sources.set(row.id, delivery);
      }
    }
    const [by] = newer;
    if (by !== undefined) this.overtaken.push({ delivery, by, rows: newer.length });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

async function readDelivery(request: IncomingMessage): Promise<Delivery> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const headers = new Headers(request.headers as Record<string, string>);
  const { data, timestamp } = JSON.parse(body) as { readonly data: Page; readonly timestamp: Timestamp };
  const times = { madeAtMs: timestampMs(timestamp), arrivedAtMs: Date.now() };
  return { path: request.url ?? '', headers, body, page: data, ...times };
}

/** A TCP server that does what `onRequest` does when a request arrives. */
export async function rawServer(onRequest: (socket: Socket, request: string) => void) {
  const sockets = new Set<Socket>();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.once('data', (request) => onRequest(socket, String(request)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    /** Resolves when a connection has been closed. */
    closed,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
