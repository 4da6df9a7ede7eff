// A receiver that fails in every way a receiver can. It keeps a copy as docs/webhooks.md describes: rows are upserted unless they
// are older than the stored ones. It counts older rows and requests that overlap, neither of which may occur.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Random } from '@offerbook/sandbox/random.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';

export interface VersionedRow {
  readonly id: string;
  readonly updatedAt: Timestamp;
  readonly version: number;
}

interface Page {
  readonly transactions: readonly VersionedRow[];
  readonly completeThrough: Timestamp | null;
}

const FAULTS = [
  'error',
  'hang',
  'redirect',
  'close',
  'close half-way',
  'slow',
  'forget',
  'lost response',
] as const;
export type Fault = (typeof FAULTS)[number];

interface Options {
  readonly random: Random;
  /** How long a hanging request stays open; at most the time of an attempt. */
  readonly hangMs: number;
  readonly slowMs: number;
  /** Called when the receiver has accepted a page and lost it. It needs all changes after this stamp again. */
  readonly onForgotten: (sinceMs: number | undefined) => void;
}

export class FaultyReceiver {
  readonly copy = new Map<string, VersionedRow>();
  readonly counts = new Map<Fault | 'good', number>();
  older = 0;
  overlaps = 0;
  /** Share of requests that fail. */
  faultShare = 0.3;
  #throughMs: number | undefined;
  #open = 0;
  readonly #options: Options;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the URL. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}/hook`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (++this.#open > 1) this.overlaps++;
    let isOpen = true;
    const end = () => {
      if (isOpen) this.#open--;
      isOpen = false;
    };
    response.on('finish', end);
    response.on('close', end);
    request.on('error', end);
    const { random, hangMs, slowMs, onForgotten } = this.#options;
    const fault = random.unit() < this.faultShare ? random.pick(FAULTS) : undefined;
    this.counts.set(fault ?? 'good', (this.counts.get(fault ?? 'good') ?? 0) + 1);
    if (fault === 'close half-way') return void request.socket.destroy();
    let text = '';
    try {
      for await (const chunk of request) text += chunk;
    } catch {
      return;
    }
    const page = (JSON.parse(text) as { data: Page }).data;
    switch (fault) {
      case 'error':
        return void response.writeHead(500).end('this must not be shown');
      case 'redirect':
        return void response.writeHead(307, { Location: '/elsewhere' }).end();
      case 'close':
        return void request.socket.destroy();
      case 'hang':
        await Bun.sleep(hangMs);
        return void request.socket.destroy();
      case 'forget':
        // The receiver responds before it stores, and crashes. It asks the operator for a replay.
        onForgotten(this.#throughMs);
        return void response.writeHead(200).end();
      case 'lost response':
        this.#store(page);
        return void request.socket.destroy();
      case 'slow':
        await Bun.sleep(slowMs);
        break;
    }
    this.#store(page);
    response.writeHead(204).end();
  }

  #store({ transactions, completeThrough }: Page): void {
    for (const row of transactions) {
      const known = this.copy.get(row.id);
      if (known !== undefined && known.updatedAt > row.updatedAt) this.older++;
      else this.copy.set(row.id, row);
    }
    if (completeThrough !== null) this.#throughMs = timestampMs(completeThrough);
  }
}
