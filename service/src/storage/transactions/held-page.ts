// A later page of a walk: nothing that was changed after the stamp to which the walk is pinned, and everything up to
// it, because its first page has promised that.

import type { Clock } from '../../domain/clock.ts';
import { DatabaseUnavailable } from '../../domain/failures.ts';
import type {
  TransactionPage,
  TransactionQuery,
  TransactionStore,
  Walk,
  WalkStore,
} from '../../domain/stores.ts';
import type { Database } from '../database.ts';
import type { Replica } from '../postgres/replica.ts';
import { pinKey } from '../stores/walk-store.ts';
import { hasNoEnd, hasNoStart } from './stamp-window.ts';
import { readHeldPage } from './transaction-page.ts';

interface Sources {
  readonly database: Database;
  readonly walks: WalkStore;
  readonly replica: Replica | undefined;
  readonly clock: Clock;
  /** A page of any window, from wherever it can be had. */
  readonly readPage: TransactionStore['page'];
}

export async function findHeldPage(
  { database, walks, replica, clock, readPage }: Sources,
  query: TransactionQuery,
  walk: Walk,
): Promise<TransactionPage> {
  // PostgreSQL has walks and transactions in one place. To find both with one statement makes such a page a fifteenth
  // cheaper, and spares a trip to the database.
  const isOneStatement =
    database.dialect === 'postgres' && replica?.state.isUsable !== true && hasNoStart(query.window);
  const found = isOneStatement
    ? await readHeldPage(database, query, pinKey(walk, clock))
    : { pinnedMs: await findPin(walks, walk), page: undefined };
  const { maxMs } = query.window;
  const endMs = Math.min(maxMs, found.pinnedMs ?? maxMs);
  const window = { ...query.window, maxMs: endMs };
  // Without an end, only the primary is sure to have all that an earlier page has spoken of.
  const atLeastMs = hasNoEnd(window) ? Number.POSITIVE_INFINITY : window.maxMs;
  const page = found.page ?? (await readPage({ ...query, window, atLeastMs }));
  // A pin beyond the end of the window hides nothing.
  return endMs < maxMs ? { ...page, completeThroughMs: Math.min(page.completeThroughMs, endMs) } : page;
}

async function findPin(walks: WalkStore, walk: Walk): Promise<number | undefined> {
  try {
    return await walks.find(walk);
  } catch (error) {
    // Where walks are noted down is away; a replica that has the whole window may be there.
    if (error instanceof DatabaseUnavailable) return undefined;
    throw error;
  }
}
