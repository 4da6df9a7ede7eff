// The import log: one entry per import, and the freshness of each feed. An entry is closed in the same database transaction as
// the change it describes, so the log cannot disagree with the data. It never contains tokens.

export interface ImportWriter {
  /** Closes the import's log entry as done, in the same transaction. */
  finishImport(result: ImportResult): Promise<void>;
}

export const IMPORT_KINDS = ['catalogue', 'links', 'transactions'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * `begun` while the import runs or waits in the queue. `refused` and `failed` imports changed nothing. `unfinished` means
 * that the process was killed; the next import of the same kind sets it.
 */
export const IMPORT_OUTCOMES = ['begun', 'done', 'refused', 'failed', 'unfinished'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

export interface ImportOrigin {
  readonly kind: ImportKind;
  /** Null for imports that belong to no organisation: catalogue and links. */
  readonly orgId: number | null;
  /** Who imported: user and machine, or the value of --by. */
  readonly by: string;
  /** Where the data comes from: the value of --source. */
  readonly source: string | null;
  readonly fileName: string;
  /** Version of the importing program. */
  readonly version: string;
}

export interface ImportCounts {
  readonly read: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Transactions that were not imported, because what is stored is newer by the time of their source. */
  readonly stale: number;
  readonly withdrawn: number;
  readonly invalid: number;
}

/** An invalid row, as listed in the import's report. */
export interface ImportProblem {
  readonly line: number;
  readonly item?: number | undefined;
  readonly field: string;
  readonly reason: string;
}

export interface ImportResult {
  readonly counts: ImportCounts;
  /** SHA-256 of the file as stored on disk; null if the import did not read all of it. */
  readonly fileDigest: string | null;
  /** The first problems; `problemCount` counts all. */
  readonly problems: readonly ImportProblem[];
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

export interface ImportQuery {
  readonly kind?: ImportKind | undefined;
  readonly orgId?: number | undefined;
  readonly outcome?: ImportOutcome | undefined;
  readonly limit: number;
}

/** Numbers of imports by kind and outcome since the database was created, and how fresh each feed is. Deleting log entries changes neither. */
export interface ImportTotals {
  readonly counts: readonly {
    readonly kind: ImportKind;
    readonly outcome: ImportOutcome;
    readonly count: number;
  }[];
  readonly feeds: readonly ImportFeed[];
}

/**
 * How fresh the data of one feed is: imports of a kind and organisation that have the same `--source`. An organisation
 * whose imports had none for 30 days is one feed.
 */
export interface ImportFeed {
  readonly kind: ImportKind;
  /** Null for imports that belong to no organisation. */
  readonly orgName: string | null;
  /** Null for all imports of the organisation. */
  readonly source: string | null;
  /** When the last import that changed the database or found nothing to change ended; null if there was none. */
  readonly lastSuccessMs: number | null;
  /** How and when the last import ended. */
  readonly lastOutcome: Exclude<ImportOutcome, 'begun' | 'unfinished'>;
  readonly lastEndedMs: number;
}

/** Totals of one kind of import on one day (UTC). Includes the rows of refused imports. */
export interface ImportDay {
  readonly dayMs: number;
  readonly kind: ImportKind;
  readonly imports: number;
  readonly counts: ImportCounts;
}

export interface ImportLog {
  /** Opens an entry in its own database transaction, so that it exists even if the process is killed afterwards. */
  begin(origin: ImportOrigin): Promise<number>;
  /** Closes the entry of an import that changed nothing. The transaction of a successful import closes its own. */
  close(id: number, outcome: 'refused' | 'failed', result: ImportResult): Promise<void>;
  find(id: number): Promise<ImportEntry | undefined>;
  /** Newest first. */
  list(query: ImportQuery): Promise<ImportEntry[]>;
  totals(): Promise<ImportTotals>;
  /** Totals of imports that began at or after `sinceMs`, oldest day first. */
  days(sinceMs: number): Promise<ImportDay[]>;
}
