// Helps clients that poll with the greatest updatedAt they have seen. The first page of an open walk pins the
// change clock for that walk: later pages do not show later changes, so the greatest stamp seen never
// overtakes a change that the walk has already passed. Best effort, in memory: the contract is Complete-Through.

import type { Uuid } from '../domain/uuid.ts';

const KEEP_MS = 60 * 60_000;
const PINS_MAX = 50_000;

export interface Walk {
  readonly tokenId: Uuid;
  /** The window exactly as it was asked for. */
  readonly filters: string;
}

interface Pin {
  readonly stampMs: number;
  readonly untilMs: number;
}

export class WalkPins {
  /** In the order in which they were set, which is the order in which they end. */
  readonly #pins = new Map<string, Pin>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Remembers, for the page of this walk that starts at the cursor, which changes it may show. */
  set(walk: Walk, cursor: Uuid, stampMs: number): void {
    const nowMs = this.#monotonicMs();
    const key = pinKey(walk, cursor);
    this.#pins.delete(key);
    this.#pins.set(key, { stampMs, untilMs: nowMs + KEEP_MS });
    for (const [oldest, pin] of this.#pins) {
      if (pin.untilMs > nowMs && this.#pins.size <= PINS_MAX) break;
      this.#pins.delete(oldest);
    }
  }

  find(walk: Walk, cursor: Uuid): number | undefined {
    const pin = this.#pins.get(pinKey(walk, cursor));
    return pin !== undefined && pin.untilMs > this.#monotonicMs() ? pin.stampMs : undefined;
  }
}

function pinKey(walk: Walk, cursor: Uuid): string {
  return `${walk.tokenId} ${cursor} ${walk.filters}`;
}
