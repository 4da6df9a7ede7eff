// The error of an import that found bad rows. Its message is what a person is shown.

import { BadInput } from '../domain/failures.ts';
import { printProblems } from './checks/row-problem.ts';
import type { ImportReport } from './import-report.ts';

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
