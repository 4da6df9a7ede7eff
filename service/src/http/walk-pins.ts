// Helps clients that poll with the greatest updatedAt they have seen. The first page of an open walk pins the
// change clock for that walk: later pages do not show later changes, so the greatest stamp seen never
// overtakes a change that the walk has already passed. Best effort, in memory: the contract is Complete-Through.
//
// A pin must not outlive its walk. Where several nodes serve, a client may begin a walk here, give it up,
// begin it again on another node and come back with the same cursor; the old pin would then hide changes that
// the new first page was complete through. A client that asks for a later page of a walk that cannot have
// begun here is such a client: it cannot be helped, and its walks are not pinned.

import type { Uuid } from '../domain/uuid.ts';

const KEEP_MS = 60 * 60_000;
const PINS_MAX = 50_000;

export interface Walk {
  readonly tokenId: Uuid;
  /** The window exactly as it was asked for: its first and its last millisecond. */
  readonly filters: string;
}

interface Pin {
  readonly stampMs: number;
  readonly untilMs: number;
}

export class WalkPins {
  /** In the order in which they were set, which is the order in which they end. */
  readonly #pins = new Map<string, Pin>();
  /** The change clock when a token's walks were first pinned here. */
  readonly #firstStamps = new Map<Uuid, number>();
  /** Tokens of clients that go from node to node, and until when that is remembered. */
  readonly #wandering = new Map<Uuid, number>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /** Remembers, for the page of this walk that starts at the cursor, which changes it may show. */
  set(walk: Walk, cursor: Uuid, stampMs: number): void {
    const nowMs = this.#monotonicMs();
    if (!this.#firstStamps.has(walk.tokenId)) this.#firstStamps.set(walk.tokenId, stampMs);
    if (this.#isWandering(walk, nowMs)) return;
    const key = pinKey(walk, cursor);
    // Two walks may share a window and a cursor. The later one must not be shown less than it was promised.
    const pinnedMs = Math.max(stampMs, this.#live(key, nowMs) ?? stampMs);
    this.#pins.delete(key);
    this.#pins.set(key, { stampMs: pinnedMs, untilMs: nowMs + KEEP_MS });
    for (const [oldest, pin] of this.#pins) {
      if (pin.untilMs > nowMs && this.#pins.size <= PINS_MAX) break;
      this.#pins.delete(oldest);
    }
  }

  /** Up to which stamp the page of this walk that starts at the cursor may show changes, if that was pinned. */
  find(walk: Walk, cursor: Uuid): number | undefined {
    const nowMs = this.#monotonicMs();
    if (this.#isWandering(walk, nowMs)) return undefined;
    const stampMs = this.#live(pinKey(walk, cursor), nowMs);
    if (stampMs === undefined && this.#beganElsewhere(walk)) {
      this.#wandering.set(walk.tokenId, nowMs + KEEP_MS);
    }
    return stampMs;
  }

  #live(key: string, nowMs: number): number | undefined {
    const pin = this.#pins.get(key);
    return pin !== undefined && pin.untilMs > nowMs ? pin.stampMs : undefined;
  }

  #isWandering({ tokenId }: Walk, nowMs: number): boolean {
    return (this.#wandering.get(tokenId) ?? 0) > nowMs;
  }

  /**
   * Whether an unpinned walk was certainly begun on another node: it goes on from a stamp later than the first
   * we pinned. An older one may have been ours before a restart. Closed windows are never pinned and tell nothing.
   */
  #beganElsewhere({ tokenId, filters }: Walk): boolean {
    const [minMs = 0, maxMs = 0] = filters.split(' ').map(Number);
    const isOpen = maxMs > Number.MAX_SAFE_INTEGER / 2;
    return isOpen && minMs > (this.#firstStamps.get(tokenId) ?? Number.POSITIVE_INFINITY);
  }
}

function pinKey(walk: Walk, cursor: Uuid): string {
  return `${walk.tokenId} ${cursor} ${walk.filters}`;
}
