// Options and reports of conversions.

import { BadInput } from '@offerbook/wire/failures.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import type { ImportProgress, RowReport } from '@offerbook/wire/rows/row-report.ts';

export interface ConvertOptions {
  /** Prints the valid rows and lists the invalid ones, instead of printing nothing. */
  readonly skipInvalid?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface ConvertReport extends RowReport {
  /** Transactions or retailers printed. */
  readonly written: number;
}

/** Thrown by a conversion with invalid rows. The message is shown to the user. */
export class Unconverted extends BadInput {
  readonly report: ConvertReport;

  constructor(report: ConvertReport, why: string) {
    super([...printProblems(report), `Nothing was converted: ${why}.`].join('\n'));
    this.report = report;
  }
}

/** Holds the converted rows until all rows are known to be valid. */
export interface RowSpool {
  /** Number of rows that were not dropped. */
  readonly count: number;
  /** Appends a row and returns its number, from 0. */
  append(row: string): number;
  /** Drops a row that another row has replaced. */
  drop(number: number): void;
  /** Writes the appended rows and frees their memory. */
  flush(): Promise<void>;
}
