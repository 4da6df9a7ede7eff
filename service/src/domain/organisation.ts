// Organisations, the tenants that tokens, transactions and clicks belong to, and the erasure of their users.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface Organisation {
  readonly id: number;
  readonly name: string;
  readonly createdAtMs: number;
  /** Identifies the organisation in public links. */
  readonly publicId: Uuid;
}

export interface OrganisationStore {
  /** Returns undefined if the name is taken. */
  create(name: string): Promise<Organisation | undefined>;
  find(name: string): Promise<Organisation | undefined>;
  list(): Promise<Organisation[]>;
  /** Returns the last stamp of each change clock, by organisation id. */
  changeClocks(): Promise<ReadonlyMap<number, number>>;
  /** Counts what a deletion would remove; undefined if there is no such organisation. Reads all clicks. */
  contents(name: string): Promise<(DeletedCounts & { readonly liveTokens: number }) | undefined>;
  /**
   * Deletes an organisation and all its data, in batches. Its tokens, links and name stop working first. Call it again to
   * resume an interrupted deletion. Returns undefined if there is no such organisation. Throws a StorageError if it has live
   * tokens, unless `revokesTokens` is set.
   */
  delete(name: string, options?: DeletionOptions): Promise<DeletedCounts | undefined>;
}

export interface DeletedCounts {
  readonly tokens: number;
  readonly transactions: number;
  /** Earlier versions of transactions. */
  readonly versions: number;
  readonly clicks: number;
  readonly imports: number;
}

interface DeletionOptions {
  readonly revokesTokens?: boolean;
  readonly onBatch?: (count: number) => void;
  /** How long to wait until running servers have reloaded. Data that they record in this time is deleted too. */
  readonly reloadMs?: number;
}

export type ErasureCounts = Pick<DeletedCounts, 'transactions' | 'versions' | 'clicks'>;

export interface ErasureStore {
  /** Counts what an erasure would change. Reads all of the organisation's data. */
  count(orgId: number, passbackUid: string): Promise<ErasureCounts>;
  /**
   * Removes `passbackUid` and `passbackData` from a user's transactions (including their history) and clicks, in batches.
   * Transactions get a new stamp; walks in progress continue without the two fields. Later imports cannot restore these fields
   * (see `erasedAtMs`). Repeat an interrupted erasure to complete it.
   */
  erase(
    org: Pick<Organisation, 'id' | 'name'>,
    passbackUid: string,
    onBatch?: (count: number) => void,
  ): Promise<ErasureCounts>;
}
