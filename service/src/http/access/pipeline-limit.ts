// Limits the requests that one connection can send in one turn of the event loop. Clients can send requests without waiting
// for responses (pipelining). Bun handles all of them before it serves another connection, which takes seconds for a
// megabyte of small requests. Bun cannot postpone the rest, so the connection is closed instead. The limit for all
// connections together is in turn-budget.ts.

import { networkOf } from './client-address.ts';

/** Enough for well-behaved clients that pipeline requests. */
export const REQUESTS_IN_A_TURN_MAX = 20;
/** Stricter limit for a network that was recently cut off, because its clients reconnect. */
export const REQUESTS_OF_FLOODER_MAX = 4;
export const FLOODER_MS = 10_000;
/** Maximum number of networks remembered. Above it, the network that was cut off longest ago is evicted. */
export const FLOODERS_MAX = 1_000;
/** Time limit for one connection's requests in a turn: about the time that the most expensive page takes. */
export const BLOCKED_MAX_MS = 100;

/** The remote end of a connection. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

export class PipelineLimit {
  /** A connection's pipelined requests arrive consecutively, so only the last peer has to be remembered. */
  #last: Peer = { address: '', port: 0 };
  #count = 0;
  #startedAtMs = 0;
  #seesTurnEnd = false;
  /** When each network's stricter limit ends. The network that was cut off longest ago is first. */
  readonly #flooders = new Map<string, number>();

  /** Counts a request. Returns true if the request must be the last on its connection. */
  isReached({ address, port }: Peer, nowMs: number): boolean {
    if (port !== this.#last.port || address !== this.#last.address) {
      this.#last = { address, port };
      this.#begin(1, nowMs);
      return false;
    }
    // The previous request may belong to an earlier turn of the event loop, so a turn is measured from the second request on.
    if (!this.#seesTurnEnd) {
      this.#seesTurnEnd = true;
      this.#begin(2, nowMs);
      setImmediate(() => {
        this.#seesTurnEnd = false;
      });
      return false;
    }
    this.#count += 1;
    const network = networkOf(address);
    const isFlooder = nowMs < (this.#flooders.get(network) ?? 0);
    const requestsMax = isFlooder ? REQUESTS_OF_FLOODER_MAX : REQUESTS_IN_A_TURN_MAX;
    if (this.#count < requestsMax && nowMs - this.#startedAtMs < BLOCKED_MAX_MS) return false;
    this.#remember(network, nowMs + FLOODER_MS);
    return true;
  }

  #remember(network: string, untilMs: number): void {
    this.#flooders.delete(network);
    this.#flooders.set(network, untilMs);
    const [leastRecent] = this.#flooders.keys();
    if (this.#flooders.size > FLOODERS_MAX && leastRecent !== undefined) this.#flooders.delete(leastRecent);
  }

  #begin(count: number, nowMs: number): void {
    this.#count = count;
    this.#startedAtMs = nowMs;
  }
}
