// Options and results of a conversion, and the spool that its rows are written to.

import { BadInput } from '@offerbook/wire/failures.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import type { ImportProgress, RowReport } from '@offerbook/wire/rows/row-report.ts';

export interface ConvertOptions {
  /** Outputs the valid rows even if other rows are invalid. */
  readonly skipInvalid?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface ConvertReport extends RowReport {
  /** Number of transactions, retailers or links in the output. */
  readonly written: number;
}

/** Thrown by a conversion with invalid rows. The message is shown to the user. */
export class ConversionFailed extends BadInput {
  readonly report: ConvertReport;

  constructor(report: ConvertReport, why: string) {
    super([...printProblems(report), `Nothing was converted: ${why}.`].join('\n'));
    this.report = report;
  }
}

/** Keeps converted rows until all rows are known to be valid. */
export interface RowSpool {
  /** Rows that were appended and not dropped. */
  readonly count: number;
  /** Appends a row and returns its number, from 0. */
  append(row: string): number;
  /** Drops a row that another row replaces. */
  drop(number: number): void;
  /** Writes the appended rows and frees their memory. */
  flush(): Promise<void>;
}
