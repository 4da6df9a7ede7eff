// Progress and results of reading rows, for imports and conversions.

import type { RowProblem } from './row-problem.ts';

export interface ImportProgress {
  /** Bytes on disk, before decompression. */
  readonly bytesRead: number;
  readonly bytesTotal: number | undefined;
  readonly rows: number;
}

export interface RowReport {
  /** Valid and invalid rows. */
  readonly read: number;
  /** Rows, or groups of related rows, with at least one problem. */
  readonly invalid: number;
  readonly seconds: number;
  /** The first problems; `problemCount` counts all of them. */
  readonly problems: readonly RowProblem[];
  readonly problemCount: number;
  /** Sentences for the operator. */
  readonly notes: readonly string[];
}
