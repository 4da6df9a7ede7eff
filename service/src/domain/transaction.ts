// Stored transactions: pages, walks, writes, the change clock, the history and the daily totals. A document is stored as the
// JSON string that clients receive, so reading a page does not parse it.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportWriter } from './import-log.ts';
import type { PullWriter } from './pull.ts';
import type { StoredDocument } from './stored-document.ts';

/** Stamps from minMs to maxMs, both included. */
export interface StampWindow {
  readonly minMs: number;
  readonly maxMs: number;
}

export const ALL_STAMPS: StampWindow = { minMs: -8.64e15, maxMs: 8.64e15 };

/**
 * A position in the order of changes, which is by stamp and then by id. It is after all transactions with an earlier stamp, and
 * after those with this stamp up to and including `id`.
 */
export interface ChangePosition {
  readonly stampMs: number;
  readonly id: Uuid;
}

export interface ChangePage {
  /** The comma-separated documents in the order of their changes, as UTF-8. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly position: ChangePosition;
  /** True if there was no further change when the page was read. */
  readonly isLast: boolean;
}

export interface TransactionQuery {
  readonly orgId: number;
  /** The page starts at the first selected transaction whose id is at or after this one. */
  readonly cursor?: Uuid | undefined;
  readonly window: StampWindow;
  /** Selects the transactions of this user. Default: all transactions. */
  readonly passbackUid?: string | undefined;
  readonly limit: number;
  /**
   * Reads the state at this stamp: transactions that changed later appear in their earlier version, and transactions that
   * were added later are omitted. Default: the current state.
   */
  readonly asOfMs?: number | undefined;
  /** Maximum total size of a page's documents; a single document may exceed it. Default: PAGE_BYTES_MAX. */
  readonly bytesMax?: number;
  /**
   * The page must be complete through at least this stamp, which the client has already seen. Pages from the primary always
   * meet this condition. Pass positive infinity to read from the primary.
   */
  readonly atLeastMs?: number;
  /** Reads changes after this position, in their order, instead of a window in the order of ids. */
  readonly after?: ChangePosition;
}

export interface TransactionPage {
  /** The comma-separated documents, as UTF-8: the elements of a JSON array. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly cursor: Uuid | undefined;
  /** The change clock when the page was read. The read saw all changes up to it; later changes get later stamps. */
  readonly completeThroughMs: number;
  /** Only if the query had a position. */
  readonly position?: ChangePosition;
}

export interface StoredTransaction extends StoredDocument {
  readonly orgId: number;
  readonly updatedAtMs: number;
  /** Latest sourceUpdatedAt of all imports; null if none had one. */
  readonly sourceUpdatedAtMs: number | null;
  /** The retailer, which is not part of the document; null if no import named one. */
  readonly retailerId: Uuid | null;
  /** The import that wrote this version; null if it was not logged. */
  readonly importId: number | null;
}

export interface TransactionStore {
  /**
   * Reads a page and the change clock in one database snapshot, so that `completeThroughMs` is valid for the page. If
   * `asOfMs` is given, `completeThroughMs` is at most `asOfMs`.
   */
  page(query: TransactionQuery): Promise<TransactionPage>;
  /** Reads the transactions that changed after a position, in their current state. */
  changes(
    query: Required<Pick<TransactionQuery, 'orgId' | 'after' | 'limit' | 'bytesMax'>>,
  ): Promise<ChangePage>;
  /** Returns the current document of an organisation's transaction as UTF-8; undefined if there is none. */
  find(orgId: number, id: Uuid): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Returns the current retailers of these transactions of an organisation, or of all organisations; omits transactions without
   * one.
   */
  findRetailers(ids: readonly Uuid[], orgId?: number): Promise<Map<Uuid, Uuid>>;
  /** Reads all transactions of an organisation in id order, in batches, from one consistent snapshot. */
  read(orgId: number, onBatch: (batch: StoredDocument[]) => Promise<void>): Promise<void>;
  /**
   * Runs `work` in a database transaction, one at a time per organisation, with the change clock locked. The transaction is
   * committed when `work` returns and rolled back when it throws. Imports pass the id of their log entry.
   */
  write<T>(orgId: number, work: (writer: TransactionWriter) => Promise<T>, importId?: number): Promise<T>;
  /**
   * Like write(), but for all organisations, because a file may contain sales from any of them. Locks the change clocks in
   * organisation order, so that concurrent calls cannot deadlock.
   */
  writeAll<T>(work: (writers: TransactionWriters) => Promise<T>, importId?: number): Promise<T>;
}

export interface TransactionWriters extends ImportWriter {
  readonly pulls: PullWriter;
  /** Returns those of the ids, which are new to their organisations, that another organisation has. */
  findUsed(ids: readonly Uuid[]): Promise<Set<Uuid>>;
  /** Returns undefined if there is no such organisation, or if the write is to a different one. */
  of(orgId: number): OrganisationWriter | undefined;
}

interface SearchOptions {
  /** Default: all organisations. */
  readonly orgId?: number | undefined;
  /** Maximum number of versions to return. Default: all. */
  readonly limit?: number;
  /** Called after each batch with the numbers of versions read and to read. */
  readonly onRows?: (rows: number, total: number) => void;
}

export interface SearchResult {
  /** Number of matches, including those beyond the limit. */
  readonly count: number;
  /** Newest first. */
  readonly newest: TransactionVersion[];
}

interface LatestOptions {
  /** Default: all organisations. */
  readonly orgId?: number | undefined;
  readonly window: StampWindow;
  /** Returns only transactions after this one in the order. */
  readonly after?: { readonly fromMs: number; readonly id: Uuid } | undefined;
  readonly limit: number;
}

export interface TransactionHistory {
  /** Returns all versions of a transaction, by organisation and newest first; empty if there is no such transaction. */
  versions(id: Uuid): Promise<TransactionVersion[]>;
  /** Finds current versions with this passbackUid. */
  findByPassbackUid(passbackUid: string, options?: SearchOptions): Promise<SearchResult>;
  /** Returns current versions with a stamp in the window, latest first, and those with the same stamp by descending id. */
  latest(options: LatestOptions): Promise<TransactionVersion[]>;
  /** Deletes versions that were replaced before this time, in batches; returns their number. The audit log records progress. */
  purge(replacedBeforeMs: number, onBatch?: (count: number) => void): Promise<number>;
}

export interface PutTransaction extends StoredDocument {
  readonly updatedAtMs: number;
  readonly sourceUpdatedAtMs?: number | null;
  readonly retailerId?: Uuid | null;
  /** The document's fields that the daily totals and the index of users need. */
  readonly sale: UserSale;
  /** The same fields of the version that put() moves to the history; undefined if the transaction is new. */
  readonly replaces: UserSale | undefined;
}

export type UserSale = Sale & Pick<Transaction, 'passbackUid'>;

export interface TransactionWriter extends OrganisationWriter, TransactionWriters {}

export interface OrganisationWriter {
  /** The updatedAt of every row in this write: max(now, last stamp + 1 ms). */
  readonly stampMs: number;
  /** The same as a string. */
  readonly stamp: Timestamp;
  /** Finds the organisation's transactions by id. Does not necessarily see rows that this writer has put. */
  find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>>;
  /** Writes rows, updates the daily totals and advances the change clock. Put each id at most once per write. */
  put(rows: readonly PutTransaction[]): Promise<void>;
  /** Updates only the source times and the retailers of transactions, which keep their stamps and import ids. */
  putSources(rows: readonly StoredTransaction[]): Promise<void>;
  /** Returns when this user was erased. Sales before that time must not identify the user again. */
  erasedAtMs(passbackUid: string): number | undefined;
}

/** A current or replaced version of a transaction. */
export interface TransactionVersion {
  readonly id: Uuid;
  readonly orgName: string;
  readonly status: Status;
  /** Stamp of the change that created this version: its updatedAt. */
  readonly fromMs: number;
  /** Stamp of the change that replaced it; null for the current version. */
  readonly untilMs: number | null;
  /** The import that created this version; null if it was not logged. */
  readonly importId: number | null;
  readonly document: string;
}

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

/** The fields of a transaction that the totals are computed from. */
export type Sale = Pick<Transaction, 'soldAt' | 'currencyCode' | 'status' | 'orderValue' | 'cashback'>;

export interface DailyTotal {
  readonly orgId: number;
  /** `2026-11-14` */
  readonly day: string;
  readonly currency: string;
  readonly status: Status;
  readonly count: number;
  /** The amounts are decimal strings, because they may have more digits than a number can hold. */
  readonly orderValue: string;
  readonly cashback: string;
}

/** A stored total that differs from the counted one. If one of the two does not exist, it is undefined. */
export interface TotalDifference {
  readonly stored: DailyTotal | undefined;
  readonly counted: DailyTotal | undefined;
}

/** Called after each batch with the number of transactions counted so far. */
export type OnCounted = (transactions: number) => void;

export interface DailyTotalStore {
  /** Counts the transactions of each day since this one (`2026-11-14`), from the totals. Omits days without any. */
  countDays(sinceDay: string): Promise<Pick<DailyTotal, 'day' | 'count'>[]>;
  /** Reads all totals in order of organisation and day, in batches, from one snapshot. */
  read(onBatch: (batch: readonly DailyTotal[]) => void): Promise<void>;
  /** Counts all transactions and returns the totals that differ. Memory use grows with the number of totals. */
  verify(onCounted?: OnCounted): Promise<TotalDifference[]>;
  /** Counts all transactions and replaces the totals, in one transaction. Imports wait until the rebuild ends. */
  rebuild(onCounted?: OnCounted): Promise<void>;
}
