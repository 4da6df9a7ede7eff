// A nightly full copy: walks everything from the beginning, and holds the walk against what the database held at its first
// page, row by row and version by version. It keeps one token, and shares its window with others that have theirs.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type FetchPage, type Poller, upsert, walkPages } from './poller.ts';

/** Compares a walk with the state of the database at its first page. */
export type CheckSnapshot = (rows: readonly Transaction[], at: Timestamp) => Promise<void>;

export class FullCopyPoller implements Poller {
  readonly kind = 'full copy';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #fetchPage: FetchPage;
  readonly #check: CheckSnapshot;

  constructor(fetchPage: FetchPage, check: CheckSnapshot) {
    this.#fetchPage = fetchPage;
    this.#check = check;
  }

  async walk(limit: number): Promise<void> {
    const rows: Transaction[] = [];
    let at: Timestamp | undefined;
    for await (const page of walkPages(this.#fetchPage, { limit })) {
      at ??= page.completeThrough;
      rows.push(...page.rows);
    }
    if (at !== undefined) await this.#check(rows, at);
    this.copy.clear();
    upsert(this.copy, rows);
  }
}
