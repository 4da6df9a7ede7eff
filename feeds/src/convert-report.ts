// What a conversion is told and what it tells.

import { BadInput } from '@offerbook/wire/failures.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import type { ImportProgress, RowReport } from '@offerbook/wire/rows/row-report.ts';

export interface ConvertOptions {
  /** Prints what is good and lists the rest, rather than printing nothing. */
  readonly skipInvalid?: boolean | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface ConvertReport extends RowReport {
  /** Transactions or retailers printed. */
  readonly written: number;
}

/** The error of a conversion that found bad rows. Its message is what a person is shown. */
export class Unconverted extends BadInput {
  readonly report: ConvertReport;

  constructor(report: ConvertReport, why: string) {
    super([...printProblems(report), `Nothing was converted: ${why}.`].join('\n'));
    this.report = report;
  }
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
