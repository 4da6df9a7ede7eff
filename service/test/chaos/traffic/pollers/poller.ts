// Interface of the nemesis's pollers. A poller keeps a copy of an organisation's transactions by reading pages; FetchPage
// decides which node serves a page.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface PageQuery {
  readonly updatedAtGreaterThan?: Timestamp | undefined;
  readonly updatedAtLessThan?: Timestamp | undefined;
  readonly passbackUid?: string | undefined;
  readonly cursor?: Uuid | undefined;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Transaction[];
  readonly cursor: Uuid | undefined;
  readonly completeThrough: Timestamp;
}

export type FetchPage = (query: PageQuery) => Promise<Page>;

export interface Poller {
  readonly kind: string;
  readonly copy: ReadonlyMap<Uuid, Transaction>;
  /**
   * Reads all changes since the last checkpoint, then sets the next one. If it throws, the poller was restarted; the checkpoint
   * must then not be ahead of the copy.
   */
  walk(limit: number): Promise<void>;
}

export async function* walkPages(fetchPage: FetchPage, query: PageQuery): AsyncGenerator<Page> {
  let page = await fetchPage(query);
  yield page;
  while (page.cursor !== undefined) {
    page = await fetchPage({ ...query, cursor: page.cursor });
    yield page;
  }
}

export function upsert(copy: Map<Uuid, Transaction>, rows: readonly Transaction[]): void {
  for (const row of rows) copy.set(row.id, row);
}
