// All stores of a database, and its state. The tests of the stores run on both implementations, SQLite and PostgreSQL.

import type { TokenStore } from './access-token.ts';
import type { AuditLog } from './audit-log.ts';
import type { CatalogueStore, LinkStore } from './catalogue.ts';
import type { ClickStore } from './click.ts';
import type { ImportLog } from './import-log.ts';
import type { LeaseStore } from './lease.ts';
import type { ErasureStore, OrganisationStore } from './organisation.ts';
import type { PullStore } from './pull.ts';
import type { DailyTotalStore, TransactionHistory, TransactionStore, WalkStore } from './transaction.ts';
import type { WebhookStore } from './webhook.ts';

export interface Stores {
  readonly organisations: OrganisationStore;
  readonly tokens: TokenStore;
  readonly catalogue: CatalogueStore;
  readonly links: LinkStore;
  readonly clicks: ClickStore;
  readonly transactions: TransactionStore;
  readonly totals: DailyTotalStore;
  readonly erasures: ErasureStore;
  readonly history: TransactionHistory;
  readonly imports: ImportLog;
  readonly pulls: PullStore;
  readonly audit: AuditLog;
  readonly walks: WalkStore;
  readonly webhooks: WebhookStore;
  /** The leases of pulls. */
  readonly leases: LeaseStore;
  /** The lease to send webhooks. */
  readonly senderLease: LeaseStore;
  /**
   * Returns the key that authenticates click ids and from which the secrets of webhooks are derived. It never changes, and copies
   * of the database include it.
   */
  clickKey(): Promise<string>;
  /** Throws a StorageError if the database does not respond. */
  revisions(): Promise<Revisions>;
  /** Calls onChange shortly after a commit; may fire spuriously. Returns an unsubscribe function. */
  watch(onChange: () => void): () => void;
  /** Returns undefined if no replica is configured. */
  replica(): ReplicaState | undefined;
  /** Returns the state of the PostgreSQL servers; undefined on SQLite, and in commands. */
  cluster(): ClusterState | undefined;
  /** Returns the usage of the connection pools; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** Returns a lower bound for how far this machine's clock is ahead of the database server's; 0 if it is not ahead. */
  clockLeadMs(): Promise<number>;
  close(): Promise<void>;
}

/** `pages` serves transaction pages; `other` serves everything else except clicks. */
export type DatabasePools = Readonly<Record<'pages' | 'other', PoolUse>>;

export interface PoolUse {
  readonly inUse: number;
  /** Statements and transactions that are waiting for a connection. */
  readonly waiting: number;
  readonly max: number;
}

export interface ReplicaState {
  /** True while pages are read from the replica. */
  readonly isUsable: boolean;
  /** Lag behind the primary, accurate to one second. While a replica catches up, a lag of over an hour can be overestimated. */
  readonly lagMs: number;
  readonly reason?: string;
}

export interface ClusterState {
  /** Addresses of servers that accept writes although another has replaced them. */
  readonly rivals: readonly string[];
  /** The primary's timeline, which increases with each failover; undefined if the server does not report it. */
  readonly timeline: number | undefined;
  /** True if no server knows whether a failover lost changes. */
  readonly isUnsettled: boolean;
  /** Number of transactions that this process has given new stamps because a failover lost changes. */
  readonly restamped: number;
}

/** The kinds of data that servers cache. `activation`: links and the public ids of organisations. `webhooks`: which ones exist. */
export const REVISIONS = ['catalogue', 'tokens', 'activation', 'webhooks'] as const;

/** Counters that increase with every committed change. */
export type Revisions = Readonly<Record<(typeof REVISIONS)[number], number>>;
