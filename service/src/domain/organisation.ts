// Organisations: the tenants that tokens, transactions and clicks belong to.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface Organisation {
  readonly id: number;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface PublicOrganisation extends Organisation {
  /** The organisation's id in public links. */
  readonly publicId: Uuid;
}

export interface OrganisationStore extends OrganisationDeletion {
  /** Returns undefined if the name is taken. */
  create(name: string): Promise<PublicOrganisation | undefined>;
  find(name: string): Promise<Organisation | undefined>;
  list(): Promise<PublicOrganisation[]>;
  /** The last stamp of each organisation's change clock, by organisation id. */
  changeClocks(): Promise<ReadonlyMap<number, number>>;
}

export interface OrganisationDeletion {
  /** Counts what a deletion would remove; undefined if there is no such organisation. Reads all clicks. */
  contents(name: string): Promise<OrganisationContents | undefined>;
  /**
   * Deletes an organisation and everything that belongs to it, in batches. Its tokens, links and name stop working first.
   * Call it again to resume an interrupted deletion. Returns undefined if there is no such organisation; throws a StorageError
   * if it has live tokens, unless `revokesTokens` is set.
   */
  delete(name: string, options?: DeletionOptions): Promise<DeletedCounts | undefined>;
}

export interface DeletedCounts {
  readonly tokens: number;
  readonly transactions: number;
  readonly versions: number;
  readonly clicks: number;
  readonly imports: number;
}

export interface OrganisationContents extends DeletedCounts {
  readonly liveTokens: number;
}

export interface DeletionOptions {
  readonly revokesTokens?: boolean;
  readonly onBatch?: (count: number) => void;
  /** How long running servers may take to reload. The deletion waits, then also deletes what they recorded meanwhile. */
  readonly reloadMs?: number;
}
