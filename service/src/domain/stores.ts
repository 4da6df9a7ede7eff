// The interfaces of the stores, one per noun. SQLite and PostgreSQL both implement them, and one contract suite tests both.
// Documents are JSON strings from `printRetailer` and `TRANSACTION_FORMAT`, stored as printed, so that reading a page parses
// nothing.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { AccessToken, TokenKind } from './access-token.ts';
import type { AuditLog, ImportLog, ImportResult, TransactionVersion } from './books.ts';
import type { ClickStore } from './click.ts';

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

/** Number of records of a user, stored or erased. */
export interface ErasureCounts {
  readonly transactions: number;
  /** Earlier versions of transactions. */
  readonly versions: number;
  readonly clicks: number;
}

export interface ErasureStore {
  /** Counts what an erasure would change. Reads all data of the organisation. */
  count(orgId: number, passbackUid: string): Promise<ErasureCounts>;
  /**
   * Removes `passbackUid` and `passbackData` from a user's transactions, their history and clicks, in batches. Transactions
   * get a new stamp; walks in progress continue without the two fields. From the start of the erasure, imports cannot restore
   * them: see `erasedAtMs`. Repeat an interrupted erasure to complete it.
   */
  erase(org: Organisation, passbackUid: string, onBatch?: (count: number) => void): Promise<ErasureCounts>;
}

export interface NewToken {
  readonly orgId: number;
  readonly kind: TokenKind;
  readonly label: string;
  readonly digest: string;
  readonly expiresAtMs: number | null;
}

/** The replacement of a token, and when the old token ends. */
export interface Succession {
  readonly successor: NewToken;
  readonly endsAtMs: number;
}

interface RotatedToken {
  readonly replaced: AccessToken;
  readonly successor: AccessToken;
}

export interface TokenStore {
  /** All tokens, including expired and revoked ones, at the returned revision. */
  list(): Promise<{ revision: number; tokens: AccessToken[] }>;
  add(token: NewToken): Promise<AccessToken>;
  /** Ends a token at this moment, unless it ends earlier anyway. Returns undefined if there is no such token. */
  endAt(id: Uuid, endsAtMs: number): Promise<AccessToken | undefined>;
  /**
   * Adds a successor and ends the token as `endAt` does, atomically. Calls `succeed` with the token locked, so concurrent
   * rotations run one after the other. If `succeed` throws, nothing changes. Returns undefined if there is no such token.
   */
  rotate(id: Uuid, succeed: (token: AccessToken) => Succession): Promise<RotatedToken | undefined>;
  /** Stores when tokens were last used. Best effort: may be postponed while another process writes. */
  touch(lastUsedAtMs: ReadonlyMap<Uuid, number>): Promise<void>;
}

export interface StoredDocument {
  readonly id: Uuid;
  readonly document: string;
}

export interface CatalogueStore {
  /**
   * Reads all retailers in order of id, in batches, from one consistent snapshot, and returns its revision. A slow callback
   * blocks nothing else.
   */
  read(onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<number>;
  /**
   * Runs `work` in a transaction: commits when it returns, rolls back when it throws. Writes run one at a time. Imports pass
   * the id of their log entry.
   */
  write<T>(work: (writer: CatalogueWriter) => Promise<T>, importId?: number): Promise<T>;
}

interface ImportWriter {
  /** Closes the import's log entry as done, in the same transaction. */
  finishImport(result: ImportResult): Promise<void>;
}

export interface CatalogueWriter extends ImportWriter {
  find(ids: readonly Uuid[]): Promise<Map<Uuid, string>>;
  put(documents: readonly StoredDocument[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** The ids of all retailers, sorted, including changes by this writer. */
  ids(): Promise<Uuid[]>;
  /** Reads all documents in order of id, including changes by this writer. */
  read(onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /** Makes running servers reload. Call it only if something changed. */
  markChanged(): Promise<void>;
}

/** Target of clicks on a retailer or deal; see activation/link-template.ts. */
export interface Link {
  /** Id of the retailer or deal. */
  readonly id: Uuid;
  readonly kind: 'retailer' | 'deal';
  readonly template: string;
}

export interface LinkStore {
  /** All links, in order of id. */
  list(): Promise<Link[]>;
  /** Transactional and one at a time, like CatalogueStore.write. */
  write<T>(work: (writer: LinkWriter) => Promise<T>, importId?: number): Promise<T>;
}

export interface LinkWriter extends ImportWriter {
  /** All links as they were when the write began. */
  list(): Promise<Link[]>;
  put(links: readonly Link[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** Makes running servers reload. Call it only if something changed. */
  markChanged(): Promise<void>;
}

/** Changes with stamps from minMs to maxMs, both included. */
export interface StampWindow {
  readonly minMs: number;
  readonly maxMs: number;
}

export interface TransactionQuery {
  readonly orgId: number;
  /** The page starts at the first selected transaction with an id at or after this one. */
  readonly cursor: Uuid | undefined;
  readonly window: StampWindow;
  readonly limit: number;
  /**
   * Read the state at this stamp: later changes show their earlier version, and later additions are omitted. Default: the
   * current state.
   */
  readonly asOfMs?: number | undefined;
  /** Size limit for the page's documents, unless there is only one. Default PAGE_BYTES_MAX. */
  readonly bytesMax?: number;
  /**
   * The page must be complete through at least this stamp (the caller already knows that far). A page from the primary
   * always is; pass positive infinity to read from the primary.
   */
  readonly atLeastMs?: number;
}

export interface TransactionPage {
  /** The comma-separated documents, as UTF-8: the elements of a JSON array. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly cursor: Uuid | undefined;
  /** The organisation's change clock when the page was read: all changes up to it were visible; later ones have greater stamps. */
  readonly completeThroughMs: number;
}

export interface StoredTransaction extends StoredDocument {
  readonly orgId: number;
  readonly updatedAtMs: number;
  /** Latest sourceUpdatedAt in an import; null if no import had one. */
  readonly sourceUpdatedAtMs: number | null;
  /** The import that wrote this version, if it has a number. */
  readonly importId: number | null;
}

export interface TransactionStore {
  /**
   * Reads a page and the change clock in one snapshot, so that `completeThroughMs` holds for the page. With `asOfMs`, it is
   * at most that stamp.
   */
  page(query: TransactionQuery): Promise<TransactionPage>;
  /** Reads all transactions of an organisation in order of id, in batches, from one consistent snapshot. */
  read(orgId: number, onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /**
   * Runs `work` in a transaction, one at a time per organisation. Locks the change clock and passes the stamp of this change
   * to `work`. Commits clock and rows when it returns; rolls back both when it throws. Imports pass the id of their log
   * entry.
   */
  write<T>(orgId: number, work: (writer: TransactionWriter) => Promise<T>, importId?: number): Promise<T>;
  /**
   * The same for all organisations at once, because a file may contain sales of any of them. Locks the clocks in order of
   * organisation, so that two such writes cannot deadlock.
   */
  writeAll<T>(work: (writers: TransactionWriters) => Promise<T>, importId?: number): Promise<T>;
}

export interface TransactionWriters extends ImportWriter {
  /** Finds transactions by id, in any organisation. */
  find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>>;
  /** Returns undefined if there is no such organisation. */
  of(orgId: number): OrganisationWriter | undefined;
}

export interface SearchProgress {
  /** Parts of the table read so far. */
  readonly read: number;
  readonly total: number;
  readonly found: number;
}

export interface SearchOptions {
  /** Default: all organisations. */
  readonly orgId?: number | undefined;
  /** Most versions to return and to hold in memory. Default: all. */
  readonly limit?: number;
  readonly onPiece?: (progress: SearchProgress) => void;
}

export interface SearchResult {
  /** Number of all matches, including those beyond the limit. */
  readonly count: number;
  /** Newest first. */
  readonly newest: TransactionVersion[];
}

export interface TransactionHistory {
  /** All versions of a transaction, newest first; empty if there is no such transaction. */
  versions(id: Uuid): Promise<TransactionVersion[]>;
  /** Finds current versions with this passbackUid. Reads all transactions, in pieces. */
  findByPassbackUid(passbackUid: string, options?: SearchOptions): Promise<SearchResult>;
  /** Deletes versions replaced before a moment, in batches; returns their number. The audit log records progress. */
  purge(replacedBeforeMs: number, onBatch?: (count: number) => void): Promise<number>;
}

/** A transaction to write. */
export interface PutTransaction extends StoredDocument {
  readonly updatedAtMs: number;
  /** Default: null. */
  readonly sourceUpdatedAtMs?: number | null;
  /** True if the transaction is known to be new. Otherwise put() moves the version it replaces to the history. */
  readonly isNew?: boolean | undefined;
}

/** Writes transactions of an import, or of another change, into one organisation. */
export interface TransactionWriter extends OrganisationWriter, ImportWriter {}

export interface OrganisationWriter {
  /** The updatedAt of every row in this write: max(now, last stamp + 1 ms). */
  readonly stampMs: number;
  /** Finds transactions by id, in any organisation. May not yet see rows put by this writer. */
  find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>>;
  /** If several rows have the same id, the last one wins. */
  put(rows: readonly PutTransaction[]): Promise<void>;
  /** Stores a later time of the source for transactions that have not changed otherwise. They keep stamp and import. */
  putSourceTimes(rows: readonly StoredTransaction[]): Promise<void>;
  /** When this user was erased. Earlier sales must not name the user again. */
  erasedAtMs(passbackUid: string): number | undefined;
  /** Advances the organisation's change clock, never backwards. Call it only if rows were written. */
  advanceClock(toMs: number): Promise<void>;
}

/** A walk through the pages of a window, identified by token and window. */
export interface Walk {
  readonly tokenId: Uuid;
  readonly window: StampWindow;
}

/**
 * Remembers the stamp of a walk's first page, so that later pages show the same state. Clients with different tokens do not
 * affect each other; requesting the first page again with the same token and window starts a new walk.
 */
export interface WalkStore {
  /** Stores the stamp at which a walk began. Does nothing if the database is read-only: then later pages show newer state. */
  begin(walk: Walk, stampMs: number): Promise<void>;
  /** Returns the stamp at which the walk began, if that was within the last hour. */
  find(walk: Walk): Promise<number | undefined>;
}
