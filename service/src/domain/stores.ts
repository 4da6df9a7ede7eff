// What the service asks of its database, noun by noun. The promises are written here once; both databases
// keep them, and one contract suite holds them to it. Documents are the JSON texts of `printRetailer` and
// `TRANSACTION_FORMAT`: stored as they are printed, so that reading a page builds nothing.

import type { AccessToken, TokenKind } from './access-token.ts';
import type { AuditBook, ImportBook, ImportResult, TransactionVersion } from './books.ts';
import type { ClickStore } from './click.ts';
import type { Uuid } from './uuid.ts';

export interface Stores {
  readonly organisations: OrganisationStore;
  readonly tokens: TokenStore;
  readonly catalogue: CatalogueStore;
  readonly links: LinkStore;
  readonly clicks: ClickStore;
  readonly transactions: TransactionStore;
  readonly erasures: ErasureStore;
  readonly history: TransactionHistory;
  readonly imports: ImportBook;
  readonly audit: AuditBook;
  readonly walks: WalkStore;
  /** The key under which the ids of clicks are made. It never changes, and goes along with a copy. */
  clickKey(): Promise<string>;
  /** Throws DatabaseUnavailable when the database does not answer. */
  revisions(): Promise<Revisions>;
  /** Calls back when revisions may have moved: soon after a commit, now and then for nothing. Returns the way to stop. */
  watch(onChange: () => void): () => void;
  /** How the replica is doing, where there is one. */
  replica(): ReplicaState | undefined;
  /** How far the clock of this machine is ahead of the database's, at least; 0 where it is not, or where both are the same. */
  clockLeadMs(): Promise<number>;
  close(): Promise<void>;
}

export interface ReplicaState {
  /** Whether pages are read from it now. */
  readonly isUsable: boolean;
  /** How far it is behind the primary, to within a second. */
  readonly lagMs: number;
  /** Why it is not used. */
  readonly reason?: string;
}

/** Counters that rise with every committed change of what servers keep in memory. */
export interface Revisions {
  readonly catalogue: number;
  readonly tokens: number;
  /** Of the public ids of organisations, and of the links. */
  readonly activation: number;
}

export interface Organisation {
  readonly id: number;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface PublicOrganisation extends Organisation {
  /** How links that users see name it. */
  readonly publicId: Uuid;
}

export interface OrganisationStore {
  /** Undefined when the name is taken. */
  create(name: string): Promise<PublicOrganisation | undefined>;
  find(name: string): Promise<Organisation | undefined>;
  list(): Promise<PublicOrganisation[]>;
  /** By the organisation's id: the last stamp of its change clock. */
  changeClocks(): Promise<ReadonlyMap<number, number>>;
  /** What a deletion would take away; undefined when there is no such organisation. Reads all clicks. */
  contents(name: string): Promise<OrganisationContents | undefined>;
  /**
   * Deletes an organisation with everything that belongs to it, batch by batch. Its tokens, its links and its name stop
   * working first. One that was interrupted is taken up where it ended. Undefined when there is no such organisation;
   * throws Refused when it has tokens that are good, unless they may be revoked.
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
  /** How long running servers may take to hear of it: what they record meanwhile is deleted, too. */
  readonly takeUpMs?: number;
}

/** How much of a user is stored, or was erased. */
export interface ErasureCounts {
  readonly transactions: number;
  /** Earlier versions of transactions. */
  readonly versions: number;
  readonly clicks: number;
}

export interface ErasureStore {
  /** What an erasure would change. Reads everything that the organisation has. */
  count(orgId: number, passbackUid: string): Promise<ErasureCounts>;
  /**
   * Takes `passbackUid` and `passbackData` out of a user's transactions, of their history and of clicks, batch by batch.
   * Transactions get a new stamp; walks under way go on, without the two fields. From its beginning on, imports bring none
   * of it back: see `erasedAtMs`. One that was interrupted may be repeated.
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

/** What takes the place of a token, and when the token ends. */
export interface Succession {
  readonly successor: NewToken;
  readonly endsAtMs: number;
}

interface RotatedToken {
  readonly replaced: AccessToken;
  readonly successor: AccessToken;
}

export interface TokenStore {
  /** Every token, dead ones too, with the revision at which this was true. */
  list(): Promise<{ revision: number; tokens: AccessToken[] }>;
  add(token: NewToken): Promise<AccessToken>;
  /** Ends a token at a moment, now or later, unless it ends earlier anyway. Undefined when there is no such token. */
  endAt(id: Uuid, endsAtMs: number): Promise<AccessToken | undefined>;
  /**
   * Adds a successor for a token and ends the token as `endAt` does, in one step. What becomes of it is asked for when
   * nobody else can change it any more; two rotations at once are as two in a row. If the answer is an error, nothing
   * changes. Undefined when there is no such token.
   */
  rotate(id: Uuid, succeed: (token: AccessToken) => Succession): Promise<RotatedToken | undefined>;
  /** Notes when tokens were last used. Best effort: may be put off while another process writes. */
  touch(lastUsedAtMs: ReadonlyMap<Uuid, number>): Promise<void>;
}

export interface StoredDocument {
  readonly id: Uuid;
  readonly document: string;
}

export interface CatalogueStore {
  /**
   * Reads all retailers in the order of their ids, batch by batch, as of one moment, and returns that
   * moment's revision. The callback may take its time; nothing is held up by it.
   */
  read(onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<number>;
  /**
   * All or nothing: what the work did is kept when it returns, and undone when it throws. One at a time. An import gives
   * its number in the book.
   */
  write<T>(work: (writer: CatalogueWriter) => Promise<T>, importId?: number): Promise<T>;
}

interface ImportWriter {
  /** Closes the entry of the import as done, with everything else that is kept. */
  finishImport(result: ImportResult): Promise<void>;
}

export interface CatalogueWriter extends ImportWriter {
  find(ids: readonly Uuid[]): Promise<Map<Uuid, string>>;
  put(documents: readonly StoredDocument[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** The ids of all retailers as they now are, in order. */
  ids(): Promise<Uuid[]>;
  /** All documents as they now are, in the order of their ids. */
  read(onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /** Makes running servers take up the change. Call it only when there was one. */
  markChanged(): Promise<void>;
}

/** Where clicks on a retailer or a deal lead: see activation/link-template.ts. */
export interface Link {
  /** Of the retailer, or of the deal. */
  readonly id: Uuid;
  readonly kind: 'retailer' | 'deal';
  readonly template: string;
}

export interface LinkStore {
  /** All of them, in the order of their ids. */
  list(): Promise<Link[]>;
  /** All or nothing, one at a time, as with the catalogue. */
  write<T>(work: (writer: LinkWriter) => Promise<T>, importId?: number): Promise<T>;
}

export interface LinkWriter extends ImportWriter {
  /** All of them as they were when the write began. */
  list(): Promise<Link[]>;
  put(links: readonly Link[]): Promise<void>;
  remove(ids: readonly Uuid[]): Promise<void>;
  /** Makes running servers take up the change. Call it only when there was one. */
  markChanged(): Promise<void>;
}

/** The changes whose stamps lie in [minMs, maxMs], both included. */
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
   * As of which stamp: what has changed since then is shown as it was, and what has been added since is not shown. Now,
   * unless given.
   */
  readonly asOfMs?: number | undefined;
  /** How many bytes the documents may have together, if there is more than one: PAGE_BYTES_MAX unless given. */
  readonly bytesMax?: number;
  /**
   * What the caller has been told, or will take for told: the page must be complete through this, at least. It
   * always is when it comes from the primary; positive infinity asks for that.
   */
  readonly atLeastMs?: number;
}

export interface TransactionPage {
  /** The documents, with commas between them: what a JSON list holds, as UTF-8. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly cursor: Uuid | undefined;
  /** The organisation's change clock as this page was read: every change up to it was visible, every later one will carry a greater stamp. */
  readonly completeThroughMs: number;
}

export interface StoredTransaction extends StoredDocument {
  readonly orgId: number;
  readonly updatedAtMs: number;
}

export interface TransactionStore {
  /**
   * One page and the change clock, read in one snapshot, so that the clock's promise is true of the page. A page as of
   * a stamp promises no more than that stamp.
   */
  page(query: TransactionQuery): Promise<TransactionPage>;
  /** Reads all transactions of an organisation in the order of their ids, batch by batch, as of one moment. */
  read(orgId: number, onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /**
   * All or nothing, one at a time for each organisation. Takes the change clock's lock and hands the work the stamp
   * of this change. Keeps clock and rows when the work returns, and neither when it throws. An import gives its
   * number in the book.
   */
  write<T>(orgId: number, work: (writer: TransactionWriter) => Promise<T>, importId?: number): Promise<T>;
  /**
   * The same for all organisations at once: a file may hold sales of any of them. The clocks are locked in the order of
   * the organisations, so that two such writes never wait for each other.
   */
  writeAll<T>(work: (writers: TransactionWriters) => Promise<T>, importId?: number): Promise<T>;
}

export interface TransactionWriters extends ImportWriter {
  /** Transactions with these ids, whichever organisation they belong to. */
  find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>>;
  /** Undefined when there is no such organisation. */
  of(orgId: number): Omit<TransactionWriter, 'finishImport'> | undefined;
}

export interface SearchProgress {
  /** How many parts of the table have been read, and of how many. */
  readonly read: number;
  readonly total: number;
  readonly found: number;
}

export interface SearchOptions {
  /** All organisations unless given. */
  readonly orgId?: number | undefined;
  /** How many are returned, and held while the search goes on; all unless given. */
  readonly limit?: number;
  readonly onPiece?: (progress: SearchProgress) => void;
}

export interface SearchResult {
  /** Of all that were found. */
  readonly count: number;
  /** The newest first. */
  readonly newest: TransactionVersion[];
}

export interface TransactionHistory {
  /** The current version of a transaction and those before it, the newest first; none when there is no such transaction. */
  versions(id: Uuid): Promise<TransactionVersion[]>;
  /** The current versions with this passbackUid. Reads every transaction, piece by piece. */
  findByPassbackUid(passbackUid: string, options?: SearchOptions): Promise<SearchResult>;
  /** Forgets versions that were replaced before a moment, batch by batch; returns how many. The audit counts those gone so far. */
  purge(replacedBeforeMs: number, onBatch?: (count: number) => void): Promise<number>;
}

/** A transaction to be written. */
export type PutTransaction = Omit<StoredTransaction, 'orgId'> & {
  /** Known to be new: otherwise a version that it replaces is looked for, and kept in the history. */
  readonly isNew?: boolean | undefined;
};

export interface TransactionWriter extends ImportWriter {
  /** max(now, last stamp + 1 ms): what every row written now carries as its updatedAt. */
  readonly stampMs: number;
  /** Transactions with these ids, whichever organisation they belong to. What this writer put may not show yet. */
  find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>>;
  /** Of several with the same id, the one put last counts. */
  put(rows: readonly PutTransaction[]): Promise<void>;
  /** When this user was erased. Sales from before that must not name them again. */
  erasedAtMs(passbackUid: string): number | undefined;
  /** Moves the organisation's change clock. Call it only when rows were written; it never goes back. */
  advanceClock(toMs: number): Promise<void>;
}

/** The pages of a window that a token asks for, one after the other. */
export interface Walk {
  readonly tokenId: Uuid;
  readonly window: StampWindow;
}

/**
 * Which state the later pages of a walk show: that of its first page. Two clients with a token each never disturb each
 * other; the next first page of the same token and window begins another walk.
 */
export interface WalkStore {
  /** Notes that a walk has begun at this stamp. Does nothing where nothing can be written: only the snapshot is lost then. */
  begin(walk: Walk, stampMs: number): Promise<void>;
  /** The stamp at which the walk has begun, if that was within the last hour. */
  find(walk: Walk): Promise<number | undefined>;
}
