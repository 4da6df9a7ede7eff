// A receiver of webhooks on loopback. It keeps a copy of the transactions, as docs/webhooks.md describes.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface Delivery {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly page: Page;
}

interface Page {
  readonly transactions: readonly Row[];
  readonly after: string | null;
  readonly completeThrough: string | null;
}

export interface Row {
  readonly id: Uuid;
  readonly updatedAt?: string;
  readonly text?: string;
}

/** Returns the response to a delivery, or a function that handles the raw request. */
export type Behaviour = (delivery: Delivery, number: number) => Response | Promise<Response>;

export const OK: Behaviour = () => new Response(null, { status: 204 });

export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  /** The rows of all deliveries that were answered with 2xx. */
  readonly copy = new Map<Uuid, Row>();
  behaviour: Behaviour;
  /** Greatest number of requests at the same time. */
  concurrent = 0;
  #current = 0;
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor(behaviour: Behaviour = OK) {
    this.behaviour = behaviour;
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 60,
      fetch: async (request) => {
        this.concurrent = Math.max(this.concurrent, ++this.#current);
        try {
          return await this.#receive(request);
        } finally {
          this.#current--;
        }
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`;
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /** Waits until the copy has this many transactions. */
  async received(count: number): Promise<void> {
    while (this.copy.size < count) await Bun.sleep(5);
  }

  async delivered(count: number): Promise<void> {
    while (this.deliveries.length < count) await Bun.sleep(5);
  }

  async #receive(request: Request): Promise<Response> {
    const body = await request.text();
    const page = (JSON.parse(body) as { data: Page }).data;
    const { pathname: path, search } = new URL(request.url);
    const delivery = { path: path + search, headers: request.headers, body, page };
    const number = this.deliveries.push(delivery);
    const response = await this.behaviour(delivery, number);
    if (response.ok) for (const row of page.transactions) this.copy.set(row.id, row);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
