// CSV with a header row: of wire fields for an import, of any columns for a feed. Rows are cut here, so that each has its
// true line and a broken one harms no other; the quoting inside a row is left to csv-parse, at its strictest.

import { parse } from 'csv-parse/sync';
import { parseDecimal } from '../decimal.ts';
import type { FieldKind } from '../transaction.ts';
import { decodeUtf8, NOT_UTF8 } from './json-row.ts';
import { NEWLINE, QUOTE } from './json-scan.ts';
import { BrokenFile, type FieldProblem, nameProblem, type RawRow, RowBytes } from './raw-row.ts';
import { type RowLimits, tooLong } from './row-limits.ts';

/** The fields that a file may have as columns, and what their cells hold. */
export type Columns = ReadonlyMap<string, FieldKind>;

/** The grammar of a JSON number: no spaces, no thousands, no hexadecimals. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What programs put between cells. Ours is the comma; the others are known to tell what is wrong. */
const SEPARATOR = /[,;\t|]/;

/** Many times what a transaction has; more are a file that was made to take up memory. */
const COLUMNS_MAX = 200;

/** Whether a file's first line names a column that we know. */
export function looksLikeHeader(line: string, columns: Columns): boolean {
  return line.split(SEPARATOR).some((cell) => columns.has(cell.trim().replace(/^"(.*)"$/, '$1')));
}

/** Whether the beginning of a file is some table: two lines with separators, and neither with the start of an object. */
export function looksLikeTable(text: string): boolean {
  const [first = '', second = ''] = text.split(/[\r\n]+/, 2);
  return [first, second].every((line) => SEPARATOR.test(line) && !line.includes('{'));
}

export interface CsvRules {
  readonly columns: Columns;
  readonly ignoreUnknown: boolean;
  readonly limits: RowLimits;
}

export function readCsv(chunks: AsyncIterable<Uint8Array>, rules: CsvRules): AsyncGenerator<RawRow[]> {
  return readTable(chunks, {
    limits: rules.limits,
    separator: ',',
    checkHeader: (names) => checkHeader(names, rules),
    readCell: (name, cell) => readCell(rules.columns.get(name), cell),
  });
}

export interface TableRules {
  readonly limits: RowLimits;
  readonly separator: string;
  /** The names of the columns, or what is wrong with them. */
  readonly checkHeader: (cells: readonly string[]) => readonly string[] | FieldProblem;
  readonly readCell: (name: string, cell: string) => unknown;
}

/** Each row becomes an object by the names of the columns, without its empty cells. */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array>,
  rules: TableRules,
): AsyncGenerator<RawRow[]> {
  const cutter = new RecordCutter(rules);
  let names: readonly string[] | undefined;
  const read = (records: readonly CsvRecord[]): RawRow[] => {
    if (names === undefined) checkLineEnds(records[0]);
    const cut = parseRecords(records, rules.separator);
    if (names === undefined) {
      const first = cut.shift();
      if (first === undefined) return [];
      const checked = first.problem ?? rules.checkHeader(first.cells);
      if ('reason' in checked) throw new BrokenFile({ line: first.line }, checked);
      names = checked;
    }
    const columns = names;
    return cut.map((record) => toRow(record, columns, rules));
  };
  for await (const chunk of chunks) yield read(cutter.push(chunk));
  yield read(cutter.end());
}

/** Spreadsheets offer the line ends of old Macs to this day. They make one record of a whole file. */
function checkLineEnds(header: CsvRecord | undefined): void {
  if (header === undefined || !header.bytes.includes(RETURN) || header.bytes.includes(NEWLINE)) return;
  const reason = 'has bare carriage returns as line ends; save it with those of Unix or Windows';
  throw new BrokenFile({ line: header.line }, { field: 'the file', reason });
}

interface CsvRecord {
  readonly line: number;
  readonly bytes: Uint8Array;
  /** Why the bytes are not there. */
  readonly problem?: FieldProblem;
}

/** Cuts at the line ends that are not inside quotes. A quote opens only at the start of a cell. */
class RecordCutter {
  readonly #limits: RowLimits;
  readonly #bytes: RowBytes;
  #line = 1;
  #recordLine = 1;
  #inQuotes = false;
  #isQuotedCell = false;
  /** The last byte of what stands between cells. */
  readonly #separator: number;
  #before: number;

  constructor({ limits, separator }: TableRules) {
    this.#limits = limits;
    this.#bytes = new RowBytes(limits.bytes);
    this.#separator = Buffer.from(separator).at(-1) ?? 0;
    this.#before = this.#separator;
  }

  push(chunk: Uint8Array): CsvRecord[] {
    const records: CsvRecord[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line++;
      if (byte === QUOTE) this.#takeQuote();
      else if (byte === NEWLINE && !this.#inQuotes) {
        this.#bytes.add(chunk.subarray(start, at));
        this.#endRecord(records, this.#line - 1);
        start = at + 1;
      }
      // A line end starts a cell as a separator does.
      this.#before = byte === NEWLINE ? this.#separator : byte;
    }
    this.#bytes.add(chunk.subarray(start));
    return records;
  }

  end(): CsvRecord[] {
    if (this.#inQuotes) {
      throw new BrokenFile(
        { line: this.#recordLine },
        { field: '', reason: 'has a quote that is never closed' },
      );
    }
    const records: CsvRecord[] = [];
    this.#endRecord(records, this.#line);
    return records;
  }

  #takeQuote(): void {
    const startsCell = !this.#inQuotes && this.#before === this.#separator;
    // In a quoted cell, a quote after a quote is the second half of a pair that stands for one.
    const isSecondHalf = !this.#inQuotes && this.#isQuotedCell && this.#before === QUOTE;
    if (!this.#inQuotes) this.#isQuotedCell = startsCell || isSecondHalf;
    this.#inQuotes = startsCell || isSecondHalf;
  }

  #endRecord(records: CsvRecord[], lastLine: number): void {
    const line = this.#recordLine;
    this.#recordLine = this.#line;
    const bytes = this.#bytes.take();
    if (bytes === undefined) {
      const { field, reason } = tooLong(this.#limits);
      const hint = lastLine === line ? '' : `, up to line ${lastLine}; is a quote not closed?`;
      records.push({ line, bytes: NO_BYTES, problem: { field, reason: reason + hint } });
      return;
    }
    const record = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
    if (record.length > 0) records.push({ line, bytes: record });
  }
}

const NO_BYTES = new Uint8Array(0);
const RETURN = 0x0d;

interface CutRecord {
  readonly line: number;
  readonly length: number;
  readonly cells: readonly string[];
  readonly problem: FieldProblem | undefined;
}

function parseRecords(records: readonly CsvRecord[], separator: string): CutRecord[] {
  const texts = records.map((record) => decodeUtf8(record.bytes));
  const quoted = texts.filter((text) => text?.includes('"')) as string[];
  const unquoted = parseQuoted(quoted, separator)[Symbol.iterator]();
  return records.map(({ line, bytes: { length }, problem }, index) => {
    const text = texts[index];
    if (problem !== undefined) return { line, length, cells: [], problem };
    if (text === undefined) return { line, length, cells: [], problem: NOT_UTF8 };
    const cells = text.includes('"') ? unquoted.next().value : text.split(separator);
    return { line, length, cells: cells ?? [], problem: cells === undefined ? MISPLACED_QUOTE : undefined };
  });
}

const MISPLACED_QUOTE: FieldProblem = { field: '', reason: 'has a quote in the wrong place' };

/** The cells of each record, undefined where the quoting is wrong. All at once, since a parser is dear to set up. */
function parseQuoted(texts: readonly string[], separator: string): (readonly string[] | undefined)[] {
  if (texts.length === 0) return [];
  try {
    const records = parse(texts.join('\n'), {
      delimiter: separator,
      record_delimiter: '\n',
      relax_column_count: true,
      max_record_size: 0,
    });
    if (records.length === texts.length) return records;
  } catch {
    // One of them is broken; the next step finds out which.
  }
  return texts.length === 1 ? [undefined] : texts.map((text) => parseQuoted([text], separator)[0]);
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

/** A name that two columns have. */
export function findTwice(names: readonly string[]): FieldProblem | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return nameProblem(name, 'is the name of two columns');
    seen.add(name);
  }
  return undefined;
}

function toRow(record: CutRecord, names: readonly string[], rules: TableRules): RawRow {
  const { line, length, cells, problem } = record;
  const place = { line };
  if (problem !== undefined) return { place, value: undefined, length, problem };
  // Without a prototype, so that even a column named `__proto__` is a field like any other.
  const value: Record<string, unknown> = Object.create(null);
  for (const [index, name] of names.entries()) {
    const cell = cells[index] ?? '';
    if (cell !== '') value[name] = rules.readCell(name, cell);
  }
  if (cells.length === names.length) return { place, value, length };
  const reason = `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} where the header has ${names.length}`;
  return { place, value, length, problem: { field: '', reason } };
}

function readCell(kind: FieldKind | undefined, cell: string): unknown {
  if (kind === 'number' && NUMBER.test(cell)) return parseDecimal(cell);
  if (kind === 'flag' && (cell === 'true' || cell === 'false')) return cell === 'true';
  return cell;
}
