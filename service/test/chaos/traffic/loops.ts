// Two ways to send requests. A closed loop sends the next request after the response to the last one, which measures capacity.
// An open loop sends requests at a fixed rate, like independent clients, and continues even if the service cannot keep up.

import { HttpConnection } from './http-connection.ts';
import { Tally } from './tally.ts';

export interface Traffic {
  readonly url: string;
  /** Sent one after the other, from the start again after the last. */
  readonly requests: readonly Uint8Array[];
  /** Called before each request. */
  readonly isOver: () => boolean;
  readonly tally?: Tally;
}

const TICK_MS = 5;
/** Longer than the read timeout of the proxies, whose 504 is a response. A request without a response counts as failed. */
const RESPONSE_MAX_MS = 30_000;

/** Over after this time. */
export function forMs(durationMs: number): () => boolean {
  const endMs = performance.now() + durationMs;
  return () => performance.now() > endMs;
}

export async function closedLoop(traffic: Traffic, connections: number): Promise<Tally> {
  const lane = openLane(traffic);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!traffic.isOver()) await lane.send();
    }),
  );
  return lane.close();
}

/** Does not send requests that are due while all connections are in use; the tally counts them as unsent. */
export async function openLoop(traffic: Traffic, perSecond: number, connectionsMax: number): Promise<Tally> {
  const lane = openLane(traffic);
  const startMs = performance.now();
  const underWay = new Set<Promise<void>>();
  for (let due = 0; !traffic.isOver(); await Bun.sleep(TICK_MS)) {
    const wanted = Math.floor(((performance.now() - startMs) / 1000) * perSecond);
    for (; due < wanted; due++) {
      if (underWay.size >= connectionsMax) {
        lane.tally.unsent += 1;
        continue;
      }
      const sending = lane.send();
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
    }
  }
  await Promise.all(underWay);
  return lane.close();
}

/** A pool of connections. A connection handles one request at a time, and a new one is opened if none is free. */
function openLane({ requests, url, tally = new Tally() }: Traffic) {
  const free: HttpConnection[] = [];
  let next = 0;
  const take = () => {
    let connection = free.pop();
    while (connection?.isOpen === false) connection = free.pop();
    return connection;
  };
  return {
    tally,
    /** Never rejects; failures are counted in the tally. */
    async send(): Promise<void> {
      const request = requests[next++ % requests.length] ?? new Uint8Array();
      const startedAtMs = performance.now();
      try {
        const connection = take() ?? (await HttpConnection.open(url));
        const status = await connection.request(request, RESPONSE_MAX_MS);
        tally.answer(status, performance.now() - startedAtMs);
        if (connection.isOpen) free.push(connection);
      } catch (error) {
        tally.fail(error instanceof Error ? error.message : String(error));
        // Pause briefly, to avoid a busy loop while the service is unreachable.
        await Bun.sleep(1);
      }
    },
    close(): Tally {
      for (const connection of free.splice(0)) connection.close();
      return tally;
    },
  };
}
