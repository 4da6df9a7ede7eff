// The documented way: walk everything after the watermark, then continue from the stamp through which all pages were
// complete.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type FetchPage, type Poller, upsert, walkPages } from './poller.ts';

export class OpenWalkPoller implements Poller {
  readonly kind = 'open walk';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #fetchPage: FetchPage;
  #watermark: Timestamp | undefined;

  constructor(fetchPage: FetchPage) {
    this.#fetchPage = fetchPage;
  }

  async walk(limit: number): Promise<void> {
    const rows: Transaction[] = [];
    let completeThrough: Timestamp | undefined;
    for await (const page of walkPages(this.#fetchPage, { updatedAtGreaterThan: this.#watermark, limit })) {
      if (completeThrough === undefined || page.completeThrough < completeThrough)
        completeThrough = page.completeThrough;
      rows.push(...page.rows);
    }
    upsert(this.copy, rows);
    this.#watermark = completeThrough;
  }
}
