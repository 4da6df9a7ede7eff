// Walks: a client reads all pages of a window, and every page shows the state of the first.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from './transaction.ts';

/** A walk through the pages of a window, identified by token and window. */
export interface Walk {
  readonly tokenId: Uuid;
  readonly window: StampWindow;
}

/**
 * Stores the stamp of a walk's first page, so that later pages show the same state. Clients with different tokens do not
 * affect each other; requesting the first page again with the same token and window starts a new walk.
 */
export interface WalkStore {
  /** Stores the stamp at which a walk began. Does nothing if the database is read-only: then later pages show newer state. */
  begin(walk: Walk, stampMs: number): Promise<void>;
  /** Returns the stamp at which the walk began, if that was within the last hour. */
  find(walk: Walk): Promise<number | undefined>;
}
