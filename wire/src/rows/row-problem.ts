// Describes the results of reading rows. A row's problem has the line, the field, and what is wrong. Text from the file is
// truncated and stripped of control characters, because messages appear on terminals.

import type { z } from 'zod';
import { printCount, printCountOf } from '../count.ts';
import {
  type FieldProblem,
  nameProblem,
  type ParsedRow,
  REASONS_WITHOUT_NAME,
  type RowPosition,
} from './raw-row.ts';

export interface RowProblem extends RowPosition, FieldProblem {
  /** Set by conversions, which read several files. */
  readonly file?: string | undefined;
  /** Set by conversions: the network's id for the row, if it is readable. */
  readonly id?: string | undefined;
}

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

/** Maximum number of problems listed per run and collected per row. */
export const PROBLEMS_MAX = 20;

/** A valid row, or its problems. */
export type CheckedRow<Value> =
  | { readonly place: RowPosition; readonly value: Value; readonly problems: undefined }
  | { readonly place: RowPosition; readonly value: undefined; readonly problems: readonly RowProblem[] };

/** `line 12: coupons[2].endDate must be after startDate`, `awin.json, line 1 (item 3), id 900100200: Id is missing` */
export function printProblem(problem: RowProblem): string {
  const { file, id, field, reason } = problem;
  const where = [file, printPlace(problem), id && `id ${id}`].filter(Boolean).join(', ');
  return `${where}: ${field === '' ? 'the row' : field} ${reason}`;
}

/** The first problems of a run, and the total number. */
export class ProblemList {
  readonly listed: RowProblem[] = [];
  count = 0;

  add(...problems: readonly RowProblem[]): void {
    this.count += problems.length;
    this.listed.push(...problems.slice(0, PROBLEMS_MAX - this.listed.length));
  }

  /** Adds the problem that ends the run. If the list is full, this problem replaces the last listed problem. */
  addLast(problem: RowProblem): void {
    this.listed.length = Math.min(this.listed.length, PROBLEMS_MAX - 1);
    this.add(problem);
  }
}

/** Returns a line per listed problem, and a line with the number of further problems. */
export function printProblems({
  problems,
  problemCount,
}: Pick<RowReport, 'problems' | 'problemCount'>): string[] {
  const lines = problems.map(printProblem);
  const more = problemCount - problems.length;
  return more > 0 ? [...lines, `… and ${printCount(more)} more`] : lines;
}

/** `2 of 1,200 rows are invalid` */
export function printInvalidRows(invalid: number, read: number): string {
  return `${printCount(invalid)} of ${printCountOf(read, 'row')} ${invalid === 1 ? 'is' : 'are'} invalid`;
}

export function printPlace({ line, item }: RowPosition): string {
  return item === undefined ? `line ${line}` : `line ${line} (item ${item})`;
}

/** Compares positions in the file. A problem with a whole list sorts after the problems of its rows. */
export function byPlace(a: RowPosition, b: RowPosition): number {
  const item = (place: RowPosition) => place.item ?? Number.MAX_SAFE_INTEGER;
  return a.line - b.line || item(a) - item(b);
}

export function rowProblem(place: RowPosition, { field, reason }: FieldProblem): RowProblem {
  const where = place.item === undefined ? { line: place.line } : { line: place.line, item: place.item };
  return { ...where, field: printable(field), reason };
}

/** Removes text from the file, for the import log. The JSON parser's message may quote the row. */
export function withoutFileText({ field, reason, ...place }: RowProblem): RowProblem {
  const nameless = Object.hasOwn(REASONS_WITHOUT_NAME, reason)
    ? REASONS_WITHOUT_NAME[reason as keyof typeof REASONS_WITHOUT_NAME]
    : undefined;
  if (nameless !== undefined) return { ...place, field: '', reason: nameless };
  return { ...place, field, reason: reason.replace(/is not JSON \(.*\)$/, 'is not JSON') };
}

export function checkRow<Value>(row: ParsedRow, schema: z.ZodType<Value>): CheckedRow<Value> {
  const { place } = row;
  if (row.problem !== undefined) return rejected(place, [row.problem]);
  const result = schema.safeParse(row.value);
  if (result.success) return { place, value: result.data, problems: undefined };
  return rejected(
    place,
    result.error.issues.flatMap((issue) => problemsOf(issue)),
  );
}

export function rejected(place: RowPosition, problems: readonly FieldProblem[]): CheckedRow<never> {
  const listed = problems.slice(0, PROBLEMS_MAX);
  return { place, value: undefined, problems: listed.map((problem) => rowProblem(place, problem)) };
}

/** Converts a Zod issue to problems. `parent` is the path of the validated value inside the row. */
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
