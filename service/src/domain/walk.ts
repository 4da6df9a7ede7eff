// A walk: a client reads all pages of a window, and every page shows the state as of the first page.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from './transaction.ts';

/** The token, the window and the user identify a walk. */
export interface Walk {
  readonly tokenId: Uuid;
  readonly window: StampWindow;
  /** Undefined for a walk through the transactions of all users. */
  readonly passbackUid?: string | undefined;
}

/**
 * Stores the stamp of a walk's first page, so that later pages show the same state. Requesting the first page again with the
 * same token, window and user starts a new walk.
 */
export interface WalkStore {
  /** Does nothing if the database is read-only; later pages then show the current state. */
  begin(walk: Walk, stampMs: number): Promise<void>;
  /** Returns the stamp of the first page; undefined if the walk began more than an hour ago. */
  find(walk: Walk): Promise<number | undefined>;
  /** Deletes the walks through a user's transactions, because an erased user must not be recognisable in them. */
  forgetUser(passbackUid: string): Promise<void>;
}
