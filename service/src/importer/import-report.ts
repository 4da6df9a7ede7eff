// Import options, import reports, and how an import is recorded in the import log.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import {
  type ImportProgress,
  printProblems,
  type RowReport,
  withoutFileText,
} from '@offerbook/wire/rows/row-problem.ts';
import {
  type ImportCounts,
  type ImportLog,
  type ImportOrigin,
  type ImportResult,
  NO_COUNTS,
} from '../domain/import-log.ts';
import { isStorageError } from '../domain/storage-error.ts';

export interface ImportOptions {
  /** Runs the whole import, then rolls it back. The report lists what would have changed. */
  readonly dryRun?: boolean | undefined;
  /** Imports the valid rows and reports the invalid ones. By default, one invalid row rejects the whole file. */
  readonly skipInvalid?: boolean | undefined;
  /** Accepts input without rows. */
  readonly allowEmpty?: boolean | undefined;
  /** Drops unknown fields instead of rejecting them. */
  readonly ignoreUnknown?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Id of the import log entry; undefined for a dry run. */
  readonly importId?: number | undefined;
}

/** Options for files that replace the whole catalogue or all links. */
export interface WholeFileOptions extends ImportOptions {
  /** Adds and changes items, but never withdraws items that the file does not list. */
  readonly merge?: boolean | undefined;
  /** Maximum percentage of withdrawals; default 50, or 10 if there are more than 100 items. */
  readonly maxWithdrawals?: number | undefined;
  /** Removes the limit on withdrawals. */
  readonly allowWithdrawals?: boolean | undefined;
}

export interface ImportReport extends RowReport, ImportCounts {
  /** Valid rows that were set aside because their click is unknown. */
  readonly aside: number;
}

/** Thrown when invalid rows stop an import. The message is shown to the user. */
export class InvalidRows extends BadInput {
  /** Counts and problems up to the point where reading stopped. */
  readonly report: ImportReport;
  /** Completes the sentence "Nothing was imported: …". */
  readonly why: string;

  constructor(report: ImportReport, why: string, problems = printProblems(report)) {
    super([...problems, `Nothing was imported: ${why}.`].join('\n'));
    this.report = report;
    this.why = why;
  }
}

/** The part of a report that the import log stores. Excludes row data, because erasing a user does not change the log. */
export function resultOf(
  { read, added, changed, unchanged, stale, withdrawn, invalid, problems, problemCount }: ImportReport,
  { digest }: ImportSource,
  reason: string | null,
): ImportResult {
  const counts = { read, added, changed, unchanged, stale, withdrawn, invalid };
  return { counts, fileDigest: digest, problems: problems.map(withoutFileText), problemCount, reason };
}

/**
 * Opens an entry in the import log before the import. A successful import closes the entry in the same database transaction as
 * its changes; this function closes the entry after a failure.
 */
export async function recordImport(
  log: ImportLog,
  origin: ImportOrigin,
  source: ImportSource,
  work: (importId: number) => Promise<ImportReport>,
): Promise<ImportReport> {
  const id = await log.begin(origin);
  try {
    return await work(id);
  } catch (error) {
    const isRefusal =
      error instanceof BadInput ||
      error instanceof Refused ||
      isStorageError(error, 'busy', 'conflict', 'gone');
    // If closing fails too, the import's error is more useful.
    await log.close(id, isRefusal ? 'refused' : 'failed', refusal(error, source)).catch(() => undefined);
    throw error;
  }
}

function refusal(error: unknown, source: ImportSource): ImportResult {
  if (error instanceof InvalidRows) {
    const { report, why } = error;
    return resultOf({ ...report, ...NO_COUNTS, read: report.read, invalid: report.invalid }, source, why);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { counts: NO_COUNTS, fileDigest: source.digest, problems: [], problemCount: 0, reason };
}
