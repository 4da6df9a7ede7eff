// A problem with a row, in words: which line, which field, what is wrong. Texts from the file appear in
// them only shortened and without control characters, since they end up on a terminal.

import type { z } from 'zod';
import type { FieldProblem, Place, RawRow } from '../formats/raw-row.ts';

export interface RowProblem extends Place, FieldProblem {}

/** How many problems are listed, and at most looked for in one row: a long row can have one in each of its values. */
export const PROBLEMS_MAX = 20;

/** A row that is fit for use, or what is wrong with it. */
export type CheckedRow<Value> =
  | { readonly place: Place; readonly value: Value; readonly problems: undefined }
  | { readonly place: Place; readonly value: undefined; readonly problems: readonly RowProblem[] };

/** `line 12: coupons[2].endDate must be after startDate` */
export function printProblem(problem: RowProblem): string {
  return `${printPlace(problem)}: ${problem.field === '' ? 'the row' : problem.field} ${problem.reason}`;
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
    .map((key) => ({ field: printPath([...path, key]), reason: 'is an unknown field' }));
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
