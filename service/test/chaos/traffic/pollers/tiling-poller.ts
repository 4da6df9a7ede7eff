// Polls adjacent windows with two bounds: each ends with the last millisecond that is known to be complete, and the next starts
// right after it. Sometimes it requests a window too early. It notices this from a page's Complete-Through, abandons the walk,
// and requests the window again later.

import type { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type FetchPage, type Poller, upsert, walkPages } from './poller.ts';

/** Changes occur every few milliseconds. */
const AHEAD_MAX_MS = 300;

export class TilingPoller implements Poller {
  readonly kind = 'tiled windows';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #fetchPage: FetchPage;
  readonly #random: Random;
  /** The last stamp of the last window. */
  #end: Timestamp | undefined;
  /** The last stamp of a window that was requested too early. */
  #early: Timestamp | undefined;

  constructor(fetchPage: FetchPage, random: Random) {
    this.#fetchPage = fetchPage;
    this.#random = random;
  }

  /** Reads one window or several. The last of them always ends at the current Complete-Through. */
  async walk(limit: number): Promise<void> {
    if (this.#early !== undefined) await this.#readWindow(this.#early, limit);
    this.#early = undefined;
    const { completeThrough, rows } = await this.#fetchPage({ updatedAtGreaterThan: this.#end, limit: 1 });
    const ends = rows.map((row) => row.updatedAt).filter((end) => end < completeThrough);
    if (this.#random.chance(0.5)) for (const end of ends) await this.#readWindow(end, limit);
    // Retries until the window is complete. A page with an earlier Complete-Through belongs to an earlier walk of its token;
    // the next first page with that token begins a new walk.
    while (!(await this.#readWindow(completeThrough, limit)));
    if (this.#random.chance(0.5)) {
      const early = printTimestamp(timestampMs(completeThrough) + this.#random.whole(1, AHEAD_MAX_MS));
      if (!(await this.#readWindow(early, limit))) this.#early = early;
    }
  }

  /**
   * Returns true if the window was complete. If not, abandons the walk at the first incomplete page; the other token may have
   * begun the walk earlier.
   */
  async #readWindow(end: Timestamp, limit: number): Promise<boolean> {
    const rows: Transaction[] = [];
    const window = { updatedAtGreaterThan: this.#end, updatedAtLessThan: this.lessThan(end), limit };
    for await (const page of walkPages(this.#fetchPage, window)) {
      if (page.completeThrough < end) return false;
      rows.push(...page.rows);
    }
    upsert(this.copy, rows);
    this.#end = end;
    return true;
  }

  /** Bounds are exclusive, so a window that includes its last stamp ends a millisecond later. */
  protected lessThan(end: Timestamp): Timestamp {
    return printTimestamp(timestampMs(end) + 1);
  }
}
