// How much one connection may have done in one turn of the event loop. A client may send requests without waiting for
// answers (pipelining). The runtime works them off in one go, and nobody else has a turn meanwhile: a megabyte of
// small requests would hold up everybody for seconds. It offers no way to read the rest later, so the connection is
// closed instead.

/** Enough for every client that pipelines in earnest. */
export const REQUESTS_IN_A_TURN_MAX = 20;
/** Of an address that was cut off lately: it would just connect again, and take turn after turn. */
export const REQUESTS_OF_FLOODER_MAX = 4;
export const FLOODER_MS = 10_000;
/** For requests that cost more than most: as long as the costliest page may take. */
export const HOLD_UP_MAX_MS = 100;

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
  /** Who was cut off last, and when that is forgotten. */
  #flooder = { address: '', untilMs: 0 };

  /** Counts a request. Whether it has to be the last one of its connection. */
  isReached({ address, port }: Peer, nowMs: number): boolean {
    if (port !== this.#last.port || address !== this.#last.address) {
      this.#last = { address, port };
      this.#begin(1, nowMs);
      return false;
    }
    // Only with a second request in a row does the end of the turn matter. The first may have come in an earlier one.
    if (!this.#seesTurnEnd) {
      this.#seesTurnEnd = true;
      this.#begin(2, nowMs);
      setImmediate(() => {
        this.#seesTurnEnd = false;
      });
      return false;
    }
    this.#count += 1;
    const isFlooder = address === this.#flooder.address && nowMs < this.#flooder.untilMs;
    const requestsMax = isFlooder ? REQUESTS_OF_FLOODER_MAX : REQUESTS_IN_A_TURN_MAX;
    if (this.#count < requestsMax && nowMs - this.#startedAtMs < HOLD_UP_MAX_MS) return false;
    this.#flooder = { address, untilMs: nowMs + FLOODER_MS };
    return true;
  }

  #begin(count: number, nowMs: number): void {
    this.#count = count;
    this.#startedAtMs = nowMs;
  }
}
