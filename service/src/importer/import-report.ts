// What an import is told and what it tells.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { printProblems, withoutFileText } from '@offerbook/wire/rows/row-problem.ts';
import type { ImportProgress, RowReport } from '@offerbook/wire/rows/row-report.ts';
import type { ImportResult } from '../domain/import-log.ts';

export interface ImportOptions {
  /** Does everything, then undoes it: the report says what would have changed. */
  readonly dryRun?: boolean | undefined;
  /** Imports the good rows and lists the bad ones, rather than importing nothing. */
  readonly skipInvalid?: boolean | undefined;
  /** Accepts an input without rows, which is refused otherwise. */
  readonly allowEmpty?: boolean | undefined;
  /** Lets fields pass that are not part of the format; they are not kept. */
  readonly ignoreUnknown?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Its number in the book of imports; a dry run has none. */
  readonly importId?: number | undefined;
}

/** Of a file that has all that there is. */
export interface WholeFileOptions extends ImportOptions {
  /** Adds and changes, never withdraws: neither what the file does not have nor deals that a retailer's row does not list. */
  readonly merge?: boolean | undefined;
  /** The percentage that the file may withdraw; by default 50, or 10 of more than 100. */
  readonly maxWithdrawals?: number | undefined;
  /** Lets the file withdraw everything. */
  readonly allowWithdrawals?: boolean | undefined;
}

export interface ImportReport extends RowReport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Transactions that were not imported, because what is stored is newer by the time of their source. */
  readonly stale: number;
  /** Retailers that are no longer in the catalogue. */
  readonly withdrawn: number;
  /** Good rows that were not imported, because nobody can tell whose they are. */
  readonly aside: number;
}

/** The error of an import that found bad rows. Its message is what a person is shown. */
export class InvalidRows extends BadInput {
  /** The counts up to where the file was read, and the problems. Nothing of it was kept. */
  readonly report: ImportReport;
  /** Why nothing was imported, as the end of a sentence. */
  readonly why: string;

  constructor(report: ImportReport, why: string) {
    super([...printProblems(report), `Nothing was imported: ${why}.`].join('\n'));
    this.report = report;
    this.why = why;
  }
}

/** What the import log keeps of a report: nothing of what is in the rows, since erasing a user does not change the log. */
export function resultOf(
  { read, added, changed, unchanged, stale, withdrawn, invalid, problems, problemCount }: ImportReport,
  { digest }: ImportSource,
  reason: string | null,
): ImportResult {
  const counts = { read, added, changed, unchanged, stale, withdrawn, invalid };
  return { counts, fileDigest: digest, problems: problems.map(withoutFileText), problemCount, reason };
}
