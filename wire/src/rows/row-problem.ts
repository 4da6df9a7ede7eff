// A problem with a row, in words: which line, which field, what is wrong. Texts from the file appear in
// them only shortened and without control characters, since they end up on a terminal.

import type { z } from 'zod';
import { printCount, printCountOf } from '../count.ts';
import { type FieldProblem, nameProblem, type Place, type RawRow, REASONS_WITHOUT_NAME } from './raw-row.ts';

export interface RowProblem extends Place, FieldProblem {
  /** Of a conversion: which of its files, and which of the network's ids, if that can be told. */
  readonly file?: string | undefined;
  readonly id?: string | undefined;
}

/** How many problems are listed, and at most looked for in one row: a long row can have one in each of its values. */
export const PROBLEMS_MAX = 20;

/** A row that is fit for use, or what is wrong with it. */
export type CheckedRow<Value> =
  | { readonly place: Place; readonly value: Value; readonly problems: undefined }
  | { readonly place: Place; readonly value: undefined; readonly problems: readonly RowProblem[] };

/** `line 12: coupons[2].endDate must be after startDate`, `awin.json, line 1 (item 3), id 900100200: Id is missing` */
export function printProblem(problem: RowProblem): string {
  const { file, id, field, reason } = problem;
  const where = [file, printPlace(problem), id && `id ${id}`].filter(Boolean).join(', ');
  return `${where}: ${field === '' ? 'the row' : field} ${reason}`;
}

/** What is wrong with the rows of a run: how many problems there are, and the first of them. */
export class ProblemList {
  readonly listed: RowProblem[] = [];
  count = 0;

  add(...problems: readonly RowProblem[]): void {
    this.count += problems.length;
    this.listed.push(...problems.slice(0, PROBLEMS_MAX - this.listed.length));
  }

  /** Adds the one that ends the run, in place of another if there is no room. */
  addLast(problem: RowProblem): void {
    this.listed.length = Math.min(this.listed.length, PROBLEMS_MAX - 1);
    this.add(problem);
  }
}

/** One line for each problem listed, and how many more there are. */
export function printProblems({
  problems,
  problemCount,
}: {
  readonly problems: readonly RowProblem[];
  readonly problemCount: number;
}): string[] {
  const lines = problems.map(printProblem);
  const more = problemCount - problems.length;
  return more > 0 ? [...lines, `… and ${printCount(more)} more`] : lines;
}

/** `2 of 1,200 rows are bad` */
export function printBadRows({ invalid, read }: { readonly invalid: number; readonly read: number }): string {
  return `${printCount(invalid)} of ${printCountOf(read, 'row')} ${invalid === 1 ? 'is' : 'are'} bad`;
}

export function printPlace({ line, item }: Place): string {
  return item === undefined ? `line ${line}` : `line ${line} (item ${item})`;
}

/** In the order of the file; a problem of a whole list comes after those of its rows. */
export function byPlace(a: Place, b: Place): number {
  const item = (place: Place) => place.item ?? Number.MAX_SAFE_INTEGER;
  return a.line - b.line || item(a) - item(b);
}

export function rowProblem(place: Place, { field, reason }: FieldProblem): RowProblem {
  const where = place.item === undefined ? { line: place.line } : { line: place.line, item: place.item };
  return { ...where, field: printable(field), reason };
}

/** The problem without text from the file: what the import log may keep. The JSON parser's words may quote the row. */
export function withoutFileText({ field, reason, ...place }: RowProblem): RowProblem {
  const nameless = Object.hasOwn(REASONS_WITHOUT_NAME, reason)
    ? REASONS_WITHOUT_NAME[reason as keyof typeof REASONS_WITHOUT_NAME]
    : undefined;
  if (nameless !== undefined) return { ...place, field: '', reason: nameless };
  return { ...place, field, reason: reason.replace(/is not JSON \(.*\)$/, 'is not JSON') };
}

export function checkRow<Value>(row: Omit<RawRow, 'length'>, schema: z.ZodType<Value>): CheckedRow<Value> {
  const { place } = row;
  if (row.problem !== undefined) return rejected(place, [row.problem]);
  const result = schema.safeParse(row.value);
  if (result.success) return { place, value: result.data, problems: undefined };
  return rejected(
    place,
    result.error.issues.flatMap((issue) => problemsOf(issue)),
  );
}

export function rejected(place: Place, problems: readonly FieldProblem[]): CheckedRow<never> {
  const listed = problems.slice(0, PROBLEMS_MAX);
  return { place, value: undefined, problems: listed.map((problem) => rowProblem(place, problem)) };
}

/** What is wrong in words; the issue may be that of a value inside the row. */
export function problemsOf(issue: z.core.$ZodIssue, parent: readonly PropertyKey[] = []): FieldProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code !== 'unrecognized_keys') return [{ field: printPath(path), reason: issue.message }];
  return issue.keys
    .slice(0, PROBLEMS_MAX)
    .map((key) => nameProblem(printPath([...path, key]), 'is an unknown field'));
}

/** `coupons[2].endDate` */
function printPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, depth) => (typeof key === 'number' ? `[${key}]` : depth === 0 ? key : `.${String(key)}`))
    .join('');
}

const FIELD_LENGTH_MAX = 80;

function printable(field: string): string {
  const shown = field.length > FIELD_LENGTH_MAX ? `${field.slice(0, FIELD_LENGTH_MAX)}…` : field;
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}
