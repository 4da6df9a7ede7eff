// Limits the requests of one connection in one turn of the event loop. A client may send requests without waiting for the
// responses (pipelining). Bun answers them in one go, and no other connection is served meanwhile: a megabyte of small
// requests would take seconds. Bun cannot read the rest later, so the connection is closed instead. The limit for all
// connections together is in turn-budget.ts.

import { networkOf } from './client-address.ts';

/** Enough for clients that pipeline. */
export const REQUESTS_IN_A_TURN_MAX = 20;
/** Limit for a network that was recently cut off: its client would reconnect and use every turn. */
export const REQUESTS_OF_FLOODER_MAX = 4;
export const FLOODER_MS = 10_000;
/** Networks remembered. Beyond this number, the one cut off least recently is forgotten. */
export const FLOODERS_MAX = 1_000;
/** Time limit for expensive requests: as long as the most expensive page may take. */
export const BLOCKED_MAX_MS = 100;

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

export class PipelineLimit {
  /** Requests of one connection come one after the other, so only the last one has to be remembered. */
  #last: Peer = { address: '', port: 0 };
  #count = 0;
  #startedAtMs = 0;
  #seesTurnEnd = false;
  /** When the lower limit of a network that was cut off ends; the least recent first. */
  readonly #flooders = new Map<string, number>();

  /** Counts a request. Returns true if it has to be the last one of its connection. */
  isReached({ address, port }: Peer, nowMs: number): boolean {
    if (port !== this.#last.port || address !== this.#last.address) {
      this.#last = { address, port };
      this.#begin(1, nowMs);
      return false;
    }
    // The first of two consecutive requests may have arrived in an earlier turn, so counting starts with the second.
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
    if (this.#flooders.size <= FLOODERS_MAX) return;
    for (const leastRecent of this.#flooders.keys()) {
      this.#flooders.delete(leastRecent);
      break;
    }
  }

  #begin(count: number, nowMs: number): void {
    this.#count = count;
    this.#startedAtMs = nowMs;
  }
}
