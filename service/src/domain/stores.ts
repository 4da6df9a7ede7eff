// All stores of a database, and its state. SQLite and PostgreSQL both implement them, and one contract suite tests both.

import type { TokenStore } from './access-token.ts';
import type { AuditLog } from './audit-log.ts';
import type { CatalogueStore } from './catalogue.ts';
import type { ClickStore } from './click.ts';
import type { ErasureStore } from './erasure.ts';
import type { ImportLog } from './import-log.ts';
import type { LinkStore } from './link.ts';
import type { OrganisationStore } from './organisation.ts';
import type { TransactionHistory, TransactionStore } from './transaction.ts';
import type { WalkStore } from './walk.ts';

export interface Stores {
  readonly organisations: OrganisationStore;
  readonly tokens: TokenStore;
  readonly catalogue: CatalogueStore;
  readonly links: LinkStore;
  readonly clicks: ClickStore;
  readonly transactions: TransactionStore;
  readonly erasures: ErasureStore;
  readonly history: TransactionHistory;
  readonly imports: ImportLog;
  readonly audit: AuditLog;
  readonly walks: WalkStore;
  /** The key that authenticates click ids. It never changes, and copies of the database include it. */
  clickKey(): Promise<string>;
  /** Throws a StorageError if the database does not respond. */
  revisions(): Promise<Revisions>;
  /** Calls onChange shortly after a commit; may fire spuriously. Returns an unsubscribe function. */
  watch(onChange: () => void): () => void;
  /** State of the replica; undefined if none is configured. */
  replica(): ReplicaState | undefined;
  /** Use of the connections to PostgreSQL; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** How far this machine's clock is at least ahead of the database's; 0 if it is not, or if they are the same clock. */
  clockLeadMs(): Promise<number>;
  close(): Promise<void>;
}

/** Connections for pages of transactions, and for everything else but clicks. */
export type DatabasePools = Readonly<Record<'pages' | 'other', PoolUse>>;

export interface PoolUse {
  readonly inUse: number;
  /** Statements and transactions without a connection yet. */
  readonly waiting: number;
  readonly max: number;
}

export interface ReplicaState {
  /** True while pages are read from the replica. */
  readonly isUsable: boolean;
  /** Lag behind the primary, accurate to one second. */
  readonly lagMs: number;
  /** Why the replica is not used. */
  readonly reason?: string;
}

/** Counters that increase with every committed change of the data that servers cache. */
export interface Revisions {
  readonly catalogue: number;
  readonly tokens: number;
  /** Covers links and the public ids of organisations. */
  readonly activation: number;
}
