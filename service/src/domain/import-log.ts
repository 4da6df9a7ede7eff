// The import log: one entry per import, and the freshness of each feed. A successful import closes its entry in the same
// database transaction as its changes, so the log always agrees with the data. The log never contains tokens.

import type { FieldProblem, RowPosition } from '@offerbook/wire/rows/raw-row.ts';

export interface ImportWriter {
  /** Closes the import's log entry as done, in the writer's transaction. */
  finishImport(result: ImportResult): Promise<void>;
}

export const IMPORT_KINDS = ['catalogue', 'links', 'transactions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * `begun`: the import is running or waiting. `refused` and `failed`: nothing changed. `unfinished`: the process was killed;
 * the next import of the same kind sets this outcome.
 */
export const IMPORT_OUTCOMES = ['begun', 'done', 'refused', 'failed', 'unfinished'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

export interface ImportOrigin {
  readonly kind: ImportKind;
  /** Null for catalogue and link imports. */
  readonly orgId: number | null;
  /** Who ran the import: the value of --by, or else the user and machine name. */
  readonly by: string;
  readonly source: string | null;
  readonly fileName: string;
  readonly version: string;
}

/** `stale`: transactions that were skipped because the stored version has a newer source time. */
const COUNTS = ['read', 'added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const;
export type ImportCounts = Readonly<Record<(typeof COUNTS)[number], number>>;
export const NO_COUNTS = Object.fromEntries(COUNTS.map((name) => [name, 0])) as ImportCounts;

export interface ImportResult {
  readonly counts: ImportCounts;
  /** SHA-256 of the file on disk; null if the import did not read the whole file. */
  readonly fileDigest: string | null;
  /** The first problems; `problemCount` counts all of them. */
  readonly problems: readonly (RowPosition & FieldProblem)[];
  readonly problemCount: number;
  /** Why nothing was imported, in one sentence; null after a successful import. */
  readonly reason: string | null;
}

export interface ImportEntry extends ImportOrigin, ImportResult {
  readonly id: number;
  readonly orgName: string | null;
  readonly beganAtMs: number;
  /** Null while the import is open. */
  readonly endedAtMs: number | null;
  readonly outcome: ImportOutcome;
}

interface ImportQuery {
  readonly kind?: ImportKind | undefined;
  readonly orgId?: number | undefined;
  readonly outcome?: ImportOutcome | undefined;
  readonly limit: number;
}

/** Import counts since the database was created, and the freshness of each feed. Deleting log entries does not affect them. */
export interface ImportTotals {
  readonly counts: readonly {
    readonly kind: ImportKind;
    readonly outcome: ImportOutcome;
    readonly count: number;
  }[];
  readonly feeds: readonly ImportFeed[];
}

/**
 * Freshness of one feed: the imports of a kind and organisation with the same `--source`. If none of an organisation's imports
 * had a `--source` in the last 30 days, they form one feed.
 */
export interface ImportFeed {
  readonly kind: ImportKind;
  /** Null for catalogue and link imports. */
  readonly orgName: string | null;
  /** Null if the feed includes all imports of the organisation. */
  readonly source: string | null;
  /** When the last successful import ended; null if there was none. */
  readonly lastSuccessMs: number | null;
  readonly lastOutcome: Exclude<ImportOutcome, 'begun' | 'unfinished'>;
  readonly lastEndedMs: number;
}

/** Totals of one import kind on one day (UTC). They include the rows of refused imports. */
export interface ImportDay {
  readonly dayMs: number;
  readonly kind: ImportKind;
  readonly imports: number;
  readonly counts: ImportCounts;
}

export interface ImportLog {
  /** Opens an entry in its own database transaction, so the entry exists even if the process is killed. */
  begin(origin: ImportOrigin): Promise<number>;
  /** Closes the entry of an unsuccessful import. */
  close(id: number, outcome: 'refused' | 'failed', result: ImportResult): Promise<void>;
  find(id: number): Promise<ImportEntry | undefined>;
  /** Newest first. */
  list(query: ImportQuery): Promise<ImportEntry[]>;
  /**
   * Newest first. Each import is running, is waiting for the lock, or was killed. Reads only the newest entries, because servers
   * call it for every scrape of the metrics.
   */
  listOpen(): Promise<ImportEntry[]>;
  totals(): Promise<ImportTotals>;
  /** Totals of imports that began at or after `sinceMs`, oldest day first. */
  days(sinceMs: number): Promise<ImportDay[]>;
}
