// Progress and results of reading the rows of a file, shared by imports and conversions.

import type { RowProblem } from './row-problem.ts';

export interface ImportProgress {
  /** Bytes of the file on disk, before unpacking. */
  readonly bytesRead: number;
  readonly bytesTotal: number | undefined;
  readonly rows: number;
}

export interface RowReport {
  /** Rows in the files, valid and invalid. */
  readonly read: number;
  /** Rows, or groups of rows that belong together, with at least one problem. */
  readonly invalid: number;
  readonly seconds: number;
  /** The first problems; problemCount has the number of all of them. */
  readonly problems: readonly RowProblem[];
  readonly problemCount: number;
  /** Sentences for the person who runs the command. */
  readonly notes: readonly string[];
}
