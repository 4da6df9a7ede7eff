// Windows closed on both sides that tile exactly: each ends with the last millisecond that is known to be
// complete, and the next begins right after it.

import { printTimestamp, type Timestamp, timestampMs } from '../../../src/domain/timestamp.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import type { Uuid } from '../../../src/domain/uuid.ts';
import type { Random } from '../../../src/sandbox/random.ts';
import { type FetchPage, type Poller, upsert, walkPages } from './poller.ts';

export class TilingPoller implements Poller {
  readonly kind = 'tiled windows';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #fetchPage: FetchPage;
  readonly #random: Random;
  /** The last stamp of the last window. */
  #end: Timestamp | undefined;

  constructor(fetchPage: FetchPage, random: Random) {
    this.#fetchPage = fetchPage;
    this.#random = random;
  }

  /** One window, or several when there is time to tile: the last one always ends at what is complete now. */
  async walk(limit: number): Promise<void> {
    const { completeThrough, rows } = await this.#fetchPage({ updatedAtGreaterThan: this.#end, limit: 1 });
    const ends = rows.map((row) => row.updatedAt).filter((end) => end < completeThrough);
    if (this.#random.chance(0.5)) await this.#readWindows([...ends, completeThrough], limit);
    else await this.#readWindows([completeThrough], limit);
  }

  async #readWindows(ends: readonly Timestamp[], limit: number): Promise<void> {
    for (const end of ends) {
      const rows: Transaction[] = [];
      const window = { updatedAtGreaterThan: this.#end, updatedAtLessThan: this.lessThan(end), limit };
      for await (const page of walkPages(this.#fetchPage, window)) rows.push(...page.rows);
      upsert(this.copy, rows);
      this.#end = end;
    }
  }

  /** Bounds are strict, so the window that includes its end is closed a millisecond later. */
  protected lessThan(end: Timestamp): Timestamp {
    return printTimestamp(timestampMs(end) + 1);
  }
}
