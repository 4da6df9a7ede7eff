// Two ways to send requests. A closed loop sends the next request after the response to the last one, which measures capacity.
// An open loop sends requests at a fixed rate, like independent clients, and continues even if the service cannot keep up.

import { HttpConnection } from './http-connection.ts';
import { Tally } from './tally.ts';

export interface Traffic {
  readonly url: string;
  /** Sent one after the other, from the start again after the last. */
  readonly requests: readonly Uint8Array[];
  readonly durationMs: number;
}

const TICK_MS = 5;

export async function closedLoop(traffic: Traffic, connections: number, tally = new Tally()): Promise<Tally> {
  const lane = new Lane(traffic, tally);
  const endMs = performance.now() + traffic.durationMs;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < endMs) await lane.send();
    }),
  );
  lane.close();
  return tally;
}

/** Does not send requests that are due while all connections are in use; `unsent` counts them. */
export async function openLoop(
  traffic: Traffic,
  perSecond: number,
  connectionsMax: number,
  tally = new Tally(),
): Promise<Tally & { unsent: number }> {
  const lane = new Lane(traffic, tally);
  const startMs = performance.now();
  const underWay = new Set<Promise<void>>();
  let due = 0;
  let unsent = 0;
  for (let nowMs = startMs; nowMs < startMs + traffic.durationMs; nowMs = performance.now()) {
    const wanted = Math.floor(((nowMs - startMs) / 1000) * perSecond);
    for (; due < wanted; due++) {
      if (underWay.size >= connectionsMax) {
        unsent += 1;
        continue;
      }
      const sending = lane.send();
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
    }
    await Bun.sleep(TICK_MS);
  }
  await Promise.all(underWay);
  lane.close();
  return Object.assign(tally, { unsent });
}

/** A pool of connections. A connection handles one request at a time, and a new one is opened if none is free. */
class Lane {
  readonly #traffic: Traffic;
  readonly #tally: Tally;
  readonly #free: HttpConnection[] = [];
  #next = 0;

  constructor(traffic: Traffic, tally: Tally) {
    this.#traffic = traffic;
    this.#tally = tally;
  }

  /** Never rejects; failures are counted in the tally. */
  async send(): Promise<void> {
    const { requests, url } = this.#traffic;
    const request = requests[this.#next++ % requests.length] ?? new Uint8Array();
    const startedAtMs = performance.now();
    try {
      const connection = this.#take() ?? (await HttpConnection.open(url));
      const status = await connection.request(request);
      this.#tally.answer(status, performance.now() - startedAtMs);
      if (connection.isOpen) this.#free.push(connection);
    } catch (error) {
      this.#tally.fail(error instanceof Error ? error.message : String(error));
      // Pause briefly, to avoid a busy loop while the service is unreachable.
      await Bun.sleep(1);
    }
  }

  close(): void {
    for (const connection of this.#free.splice(0)) connection.close();
  }

  #take(): HttpConnection | undefined {
    for (let connection = this.#free.pop(); connection !== undefined; connection = this.#free.pop()) {
      if (connection.isOpen) return connection;
    }
    return undefined;
  }
}
