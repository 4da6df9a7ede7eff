// Windows closed on both sides that tile exactly: each ends with the last millisecond that is known to be
// complete, and the next begins right after it. Now and then it is in a hurry, and asks for a window that is not complete
// yet: it sees that from a page's Complete-Through, leaves the walk where it is, and asks again later.

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

  /** One window, or several when there is time to tile: the last one always ends at what is complete now. */
  async walk(limit: number): Promise<void> {
    if (this.#early !== undefined) await this.#readWindow(this.#early, limit);
    this.#early = undefined;
    const { completeThrough, rows } = await this.#fetchPage({ updatedAtGreaterThan: this.#end, limit: 1 });
    const ends = rows.map((row) => row.updatedAt).filter((end) => end < completeThrough);
    if (this.#random.chance(0.5)) for (const end of ends) await this.#readWindow(end, limit);
    // What is complete now stays so: a page that says less belongs to an earlier walk of its token, and the next first
    // page of that token begins another.
    while (!(await this.#readWindow(completeThrough, limit)));
    if (this.#random.chance(0.5)) {
      const early = printTimestamp(timestampMs(completeThrough) + this.#random.whole(1, AHEAD_MAX_MS));
      if (!(await this.#readWindow(early, limit))) this.#early = early;
    }
  }

  /** Whether it was complete. If not, it is left where that was seen: another token may have begun it earlier. */
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
