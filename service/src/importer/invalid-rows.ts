// The error of an import that found bad rows. Its message is what a person is shown.

import { printCount } from '../domain/count.ts';
import { BadInput } from '../domain/failures.ts';
import { printProblem } from './checks/row-problem.ts';
import type { ImportReport } from './import-report.ts';

export class InvalidRows extends BadInput {
  /** The counts up to where the file was read, and the problems. Nothing of it was kept. */
  readonly report: ImportReport;
  /** Why nothing was imported, as the end of a sentence. */
  readonly why: string;

  constructor(report: ImportReport, why: string) {
    super([...listProblems(report), `Nothing was imported: ${why}.`].join('\n'));
    this.report = report;
    this.why = why;
  }
}

/** One line for each problem listed, and how many more there are. */
export function listProblems({ problems, problemCount }: ImportReport): string[] {
  const lines = problems.map(printProblem);
  const more = problemCount - problems.length;
  return more > 0 ? [...lines, `… and ${printCount(more)} more`] : lines;
}
