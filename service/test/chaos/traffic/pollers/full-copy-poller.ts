// A nightly full copy: walks through all transactions and compares the walk, row by row, with the database at its first page.
// Then does the same with the transactions of one user. It has a single token, while pollers with other tokens walk through the
// same window.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { type FetchPage, type PageQuery, type Poller, upsert, walkPages } from './poller.ts';

/** Compares a walk, of one user or of all users, with the state of the database at its first page. */
export type CheckSnapshot = (
  rows: readonly Transaction[],
  at: Timestamp,
  passbackUid: string | undefined,
) => Promise<void>;

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
    const rows = await this.#read({ limit });
    this.copy.clear();
    upsert(this.copy, rows);
    const passbackUid = rows[rows.length >> 1]?.passbackUid ?? undefined;
    if (passbackUid !== undefined) await this.#read({ limit: Math.ceil(limit / 4), passbackUid });
  }

  async #read(query: PageQuery): Promise<Transaction[]> {
    const rows: Transaction[] = [];
    let at: Timestamp | undefined;
    for await (const page of walkPages(this.#fetchPage, query)) {
      at ??= page.completeThrough;
      rows.push(...page.rows);
    }
    if (at !== undefined) await this.#check(rows, at, query.passbackUid);
    return rows;
  }
}
