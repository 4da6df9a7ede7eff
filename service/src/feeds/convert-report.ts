// What a conversion is told and what it tells.

import type { RowProblem } from '../importer/checks/row-problem.ts';
import type { ImportProgress } from '../importer/import-report.ts';

export interface ConvertOptions {
  /** Prints what is good and lists the rest, rather than printing nothing. */
  readonly skipInvalid?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** What is wrong with a row: in which file, where in it, and which of the network's ids it is about, if that can be told. */
export interface FeedProblem extends RowProblem {
  readonly file: string;
  readonly id?: string | undefined;
}

export interface ConvertReport {
  /** Rows in the files, good and bad. */
  readonly read: number;
  /** Transactions or retailers printed. */
  readonly written: number;
  /** Rows, or groups of rows that belong together, with at least one problem. */
  readonly invalid: number;
  readonly seconds: number;
  /** The first problems; there may be more than are listed. */
  readonly problems: readonly FeedProblem[];
  readonly problemCount: number;
  /** Sentences that the operator should read. */
  readonly notes: readonly string[];
}

/** Where rows go until it is known that all of them are good. */
export interface RowSpool {
  /** Of the rows that have not been dropped. */
  readonly count: number;
  /** Adds a row at the end; the first has the number 0. */
  append(row: string): number;
  /** Takes a row back that another has replaced. */
  drop(number: number): void;
  /** Lets go of the memory that appended rows have taken. */
  flush(): Promise<void>;
}
