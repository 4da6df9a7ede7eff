// The error of a conversion that found bad rows. Its message is what a person is shown.

import { printCount } from '../domain/count.ts';
import { BadInput } from '../domain/failures.ts';
import { printPlace } from '../importer/checks/row-problem.ts';
import type { ConvertReport, FeedProblem } from './convert-report.ts';

export class Unconverted extends BadInput {
  readonly report: ConvertReport;

  constructor(report: ConvertReport, why: string) {
    super([...listFeedProblems(report), `Nothing was converted: ${why}.`].join('\n'));
    this.report = report;
  }
}

/** One line for each problem listed, and how many more there are. */
export function listFeedProblems({ problems, problemCount }: ConvertReport): string[] {
  const lines = problems.map(printFeedProblem);
  const more = problemCount - problems.length;
  return more > 0 ? [...lines, `… and ${printCount(more)} more`] : lines;
}

/** `awin.json, line 1 (item 3), id 900100200: saleAmount.currency is missing` */
function printFeedProblem(problem: FeedProblem): string {
  const { file, id, field, reason } = problem;
  const where = [file, printPlace(problem), ...(id === undefined ? [] : [`id ${id}`])].join(', ');
  return `${where}: ${field === '' ? 'the row' : field} ${reason}`;
}
