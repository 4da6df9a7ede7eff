// Transactions as the service stores them: pages, writes, the change clock and the history. Documents are JSON strings, stored as
// printed by the wire format, so that reading a page parses nothing.

import type { Status } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportWriter } from './import-log.ts';
import type { StoredDocument } from './stored-document.ts';

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

/** The current version of a transaction, or one that was replaced. */
export interface TransactionVersion {
  readonly id: Uuid;
  readonly orgName: string;
  readonly status: Status;
  /** Stamp of the change that created this version: its updatedAt. */
  readonly fromMs: number;
  /** Stamp at which it was replaced; null for the current version. */
  readonly untilMs: number | null;
  /** The import that created this version; null for imports older than the import log. */
  readonly importId: number | null;
  readonly document: string;
}
