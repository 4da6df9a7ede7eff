// CSV with a header row. The columns of an import are wire fields; a feed can have any columns.

import { parseDecimal } from '../decimal.ts';
import { CsvCutter, type CsvRecord } from './csv-records.ts';
import { BrokenFile, type FieldProblem, nameProblem, type RawRow } from './raw-row.ts';
import type { RowLimits } from './row-limits.ts';

/** The columns that a file can have, with their types. */
export type Columns = ReadonlyMap<string, 'text' | 'number'>;

/** A JSON number: without spaces, thousands separators or hexadecimal digits. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Imports accept only commas; the other separators are recognised for a helpful message. */
const SEPARATOR = /[,;\t|]/;

/** More than a transaction needs. Only a file crafted to exhaust memory has more columns. */
const COLUMNS_MAX = 200;

/** True if the file's first line contains the name of a known column. */
export function looksLikeHeader(line: string, columns: Columns): boolean {
  return line.split(SEPARATOR).some((cell) => columns.has(cell.trim().replace(/^"(.*)"$/, '$1')));
}

/** True if the first two lines have separators and no opening brace. */
export function looksLikeTable(text: string): boolean {
  const [first = '', second = ''] = text.split(/[\r\n]+/, 2);
  return [first, second].every((line) => SEPARATOR.test(line) && !line.includes('{'));
}

interface CsvRules {
  readonly columns: Columns;
  readonly ignoreUnknown: boolean;
  readonly limits: RowLimits;
}

export function readCsv(chunks: AsyncIterable<Uint8Array>, rules: CsvRules): AsyncGenerator<RawRow[]> {
  return readTable(chunks, {
    limits: rules.limits,
    separator: ',',
    checkHeader: (names) => checkHeader(names, rules),
    readCell: (name, cell) =>
      rules.columns.get(name) === 'number' && NUMBER.test(cell) ? parseDecimal(cell) : cell,
  });
}

interface TableRules {
  readonly limits: RowLimits;
  readonly separator: string;
  /** Returns the column names, or a problem. */
  readonly checkHeader: (cells: readonly string[]) => readonly string[] | FieldProblem;
  readonly readCell: (name: string, cell: string) => unknown;
}

/** Converts each record to an object keyed by column name. Empty cells are omitted. */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array>,
  rules: TableRules,
): AsyncGenerator<RawRow[]> {
  const cutter = new CsvCutter(rules.separator, rules.limits);
  let names: readonly string[] | undefined;
  const toRows = (records: CsvRecord[]): RawRow[] => {
    names ??= readHeader(records.shift(), rules);
    const columns = names ?? [];
    return records.map((record) => toRow(record, columns, rules));
  };
  for await (const chunk of chunks) yield toRows(cutter.push(chunk));
  yield toRows(cutter.end());
}

/** Returns the column names of the header record; undefined if there is no record yet. */
function readHeader(header: CsvRecord | undefined, rules: TableRules): readonly string[] | undefined {
  if (header === undefined) return undefined;
  const checked = header.problem ?? rules.checkHeader(header.cells);
  if ('reason' in checked) throw new BrokenFile({ line: header.line }, checked);
  return checked;
}

function checkHeader(names: readonly string[], rules: CsvRules): readonly string[] | FieldProblem {
  if (names.length > COLUMNS_MAX) {
    return { field: 'the header', reason: `must have at most ${COLUMNS_MAX} columns` };
  }
  if (names.length === 1 && SEPARATOR.test(names[0] ?? '')) {
    return { field: 'the header', reason: 'must have commas between its columns' };
  }
  const unknown = rules.ignoreUnknown ? undefined : names.find((name) => !rules.columns.has(name));
  if (unknown !== undefined) return nameProblem(unknown, 'is an unknown column');
  return findTwice(names) ?? names;
}

/** Returns a problem if a column name occurs twice. */
export function findTwice(names: readonly string[]): FieldProblem | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return nameProblem(name, 'is the name of two columns');
    seen.add(name);
  }
  return undefined;
}

function toRow(record: CsvRecord, names: readonly string[], rules: TableRules): RawRow {
  const { line, length, cells, problem } = record;
  const place = { line };
  if (problem !== undefined) return { place, value: undefined, length, problem };
  // No prototype, so that a column named `__proto__` is an ordinary field.
  const value: Record<string, unknown> = Object.create(null);
  for (const [index, name] of names.entries()) {
    const cell = cells[index] ?? '';
    if (cell !== '') value[name] = rules.readCell(name, cell);
  }
  if (cells.length === names.length) return { place, value, length };
  const reason = `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} where the header has ${names.length}`;
  return { place, value, length, problem: { field: '', reason } };
}
