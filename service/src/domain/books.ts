// The books: what was imported, what a transaction was before it changed, and who changed what else. Every entry is
// written in the transaction in which the thing happens, so that the books cannot differ from the data. They never hold
// a token.

import type { Status } from './transaction.ts';
import type { Uuid } from './uuid.ts';

export const IMPORT_KINDS = ['catalogue', 'links', 'transactions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * `begun` while it runs or waits for its turn. `refused` and `failed` imports have changed nothing. `unfinished` is one
 * whose process ended without a word; the next import of the same kind finds it so.
 */
export const IMPORT_OUTCOMES = ['begun', 'done', 'refused', 'failed', 'unfinished'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

export interface ImportOrigin {
  readonly kind: ImportKind;
  /** Null for what belongs to no organisation: the catalogue, links. */
  readonly orgId: number | null;
  /** Who imported: a person and a machine, or what --by says. */
  readonly by: string;
  /** Where the data comes from, as --source says. */
  readonly source: string | null;
  readonly fileName: string;
  /** Of the program that imports. */
  readonly version: string;
}

export interface ImportCounts {
  readonly read: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly withdrawn: number;
  readonly invalid: number;
}

/** A bad row, as the report of the import lists it. */
export interface ImportProblem {
  readonly line: number;
  readonly item?: number | undefined;
  readonly field: string;
  readonly reason: string;
}

export interface ImportResult {
  readonly counts: ImportCounts;
  /** SHA-256 of the file as it lay on disk; null when it was not read to its end. */
  readonly fileDigest: string | null;
  /** The first problems; there may be more than are listed. */
  readonly problems: readonly ImportProblem[];
  readonly problemCount: number;
  /** Why nothing was imported, in one sentence; null when it was. */
  readonly reason: string | null;
}

export interface ImportEntry extends ImportOrigin, ImportResult {
  readonly id: number;
  readonly orgName: string | null;
  readonly beganAtMs: number;
  /** Null while nobody knows. */
  readonly endedAtMs: number | null;
  readonly outcome: ImportOutcome;
}

export interface ImportQuery {
  readonly kind?: ImportKind | undefined;
  readonly orgId?: number | undefined;
  readonly outcome?: ImportOutcome | undefined;
  readonly limit: number;
}

/** How many imports have ended in which way, ever: they stay when entries of the book go. */
export interface ImportTotals {
  readonly counts: readonly {
    readonly kind: ImportKind;
    readonly outcome: ImportOutcome;
    readonly count: number;
  }[];
  readonly lastSuccesses: readonly { readonly kind: ImportKind; readonly atMs: number }[];
}

/** What the imports of a day (UTC) did together, by kind. Those that were refused have counted rows, too. */
export interface ImportDay {
  readonly dayMs: number;
  readonly kind: ImportKind;
  readonly imports: number;
  readonly counts: ImportCounts;
}

export interface ImportBook {
  /** Opens an entry, in a transaction of its own: it is there even if the process is killed a moment later. */
  begin(origin: ImportOrigin): Promise<number>;
  /** Closes the entry of an import that changed nothing. One that did is closed by its own transaction. */
  close(id: number, outcome: 'refused' | 'failed', result: ImportResult): Promise<void>;
  find(id: number): Promise<ImportEntry | undefined>;
  /** The newest first. */
  list(query: ImportQuery): Promise<ImportEntry[]>;
  totals(): Promise<ImportTotals>;
  /** Of imports that began since a moment, the oldest day first. */
  days(sinceMs: number): Promise<ImportDay[]>;
}

/** A version of a transaction: the current one, or one that was replaced. */
export interface TransactionVersion {
  readonly id: Uuid;
  readonly orgName: string;
  readonly status: Status;
  /** The stamp from which it was true: its updatedAt. */
  readonly fromMs: number;
  /** The stamp at which it was replaced; null for the current one. */
  readonly untilMs: number | null;
  /** The import that made it; null when that was before imports were in the book. */
  readonly importId: number | null;
  readonly document: string;
}

export type AuditAction =
  | 'organisation created'
  | 'token issued'
  | 'token rotated'
  | 'token revoked'
  | 'history purged'
  | 'clicks purged'
  | 'user erasure begun'
  | 'user erased'
  | 'organisation deleted'
  | 'database copied'
  | 'database restored'
  | 'schema migrated';

export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly by: string;
  readonly action: AuditAction;
  readonly org: string | null;
  /** What it was done to and how, such as a token's id, kind and label. */
  readonly details: Readonly<Record<string, string | number | null>>;
}

export interface AuditBook {
  /** The newest first. */
  list(query: { readonly org?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
}
