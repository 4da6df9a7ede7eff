// A client that ignores the documentation: it continues from the greatest updatedAt that it has seen. This is safe only
// while no other client begins a walk over the same window with its token.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type FetchPage, type Poller, upsert, walkPages } from './poller.ts';

export class GreatestStampPoller implements Poller {
  readonly kind = 'max(updatedAt)';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #fetchPage: FetchPage;
  #watermark: Timestamp | undefined;

  constructor(fetchPage: FetchPage) {
    this.#fetchPage = fetchPage;
  }

  async walk(limit: number): Promise<void> {
    const rows: Transaction[] = [];
    for await (const page of walkPages(this.#fetchPage, { updatedAtGreaterThan: this.#watermark, limit })) {
      rows.push(...page.rows);
    }
    upsert(this.copy, rows);
    for (const { updatedAt } of rows) {
      if (this.#watermark === undefined || updatedAt > this.#watermark) this.#watermark = updatedAt;
    }
  }
}
