// CSV with a header row that names wire fields. Rows are cut here, so that each has its true line and a
// broken one harms no other; the quoting inside a row is left to csv-parse, at its strictest.

import { parse } from 'csv-parse/sync';
import { parseDecimal } from '../../domain/decimal.ts';
import { TRANSACTION_FIELDS, type Transaction } from '../../domain/transaction.ts';
import { decodeUtf8, NOT_UTF8 } from './json-row.ts';
import { BrokenFile, type FieldProblem, type RawRow, ROW_TOO_LONG, RowBytes } from './raw-row.ts';

type NumberField = {
  [Field in keyof Transaction]: Transaction[Field] extends number ? Field : never;
}[keyof Transaction];
const NUMBER_FIELDS: Record<NumberField, true> = { orderValue: true, cashback: true };

/** The grammar of a JSON number: no spaces, no thousands, no hexadecimals. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What programs put between cells. Ours is the comma; the others are known to tell what is wrong. */
const SEPARATOR = /[,;\t|]/;

/** Whether a file's first line names a column that we know. */
export function looksLikeHeader(line: string): boolean {
  const known = new Set<string>(TRANSACTION_FIELDS);
  return line.split(SEPARATOR).some((cell) => known.has(cell.trim().replace(/^"(.*)"$/, '$1')));
}

/** Whether the beginning of a file is some table: two lines with separators, and neither with the start of an object. */
export function looksLikeTable(text: string): boolean {
  const [first = '', second = ''] = text.split(/[\r\n]+/, 2);
  return [first, second].every((line) => SEPARATOR.test(line) && !line.includes('{'));
}

export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  rules: { ignoreUnknown: boolean },
): AsyncGenerator<RawRow[]> {
  const cutter = new RecordCutter();
  let columns: readonly string[] | undefined;
  const read = (records: readonly CsvRecord[]): RawRow[] => {
    const cut = parseRecords(records);
    if (columns === undefined) {
      const header = cut.shift();
      if (header === undefined) return [];
      columns = checkHeader(header, rules);
    }
    const names = columns;
    return cut.map((record) => toRow(record, names));
  };
  for await (const chunk of chunks) {
    yield read(cutter.push(chunk));
    cutter.requireReadable();
  }
  yield read(cutter.end());
}

interface CsvRecord {
  readonly line: number;
  readonly bytes: Uint8Array;
}

/** Cuts at the line ends that are not inside quotes. A quote opens only at the start of a cell. */
class RecordCutter {
  readonly #bytes = new RowBytes();
  #line = 1;
  #recordLine = 1;
  #inQuotes = false;
  #isQuotedCell = false;
  #before = COMMA;

  push(chunk: Uint8Array): CsvRecord[] {
    const records: CsvRecord[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line++;
      if (byte === QUOTE) this.#takeQuote();
      else if (byte === NEWLINE && !this.#inQuotes) {
        this.#bytes.add(chunk.subarray(start, at));
        this.#endRecord(records);
        start = at + 1;
      }
      // A line end starts a cell as a comma does.
      this.#before = byte === NEWLINE ? COMMA : byte;
    }
    this.#bytes.add(chunk.subarray(start));
    return records;
  }

  /** A row that grows and grows is a quote that is never closed: what follows can be anything. */
  requireReadable(): void {
    if (this.#bytes.isTooLong) throw new BrokenFile({ line: this.#recordLine }, ROW_TOO_LONG);
  }

  end(): CsvRecord[] {
    if (this.#inQuotes) {
      throw new BrokenFile(
        { line: this.#recordLine },
        { field: '', reason: 'has a quote that is never closed' },
      );
    }
    const records: CsvRecord[] = [];
    this.#endRecord(records);
    return records;
  }

  #takeQuote(): void {
    const startsCell = !this.#inQuotes && this.#before === COMMA;
    // In a quoted cell, a quote after a quote is the second half of a pair that stands for one.
    const isSecondHalf = !this.#inQuotes && this.#isQuotedCell && this.#before === QUOTE;
    if (!this.#inQuotes) this.#isQuotedCell = startsCell || isSecondHalf;
    this.#inQuotes = startsCell || isSecondHalf;
  }

  #endRecord(records: CsvRecord[]): void {
    const bytes = this.#bytes.take();
    if (bytes === undefined) throw new BrokenFile({ line: this.#recordLine }, ROW_TOO_LONG);
    const record = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
    if (record.length > 0) records.push({ line: this.#recordLine, bytes: record });
    this.#recordLine = this.#line;
  }
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;

interface CutRecord {
  readonly line: number;
  readonly cells: readonly string[];
  readonly problem: FieldProblem | undefined;
}

function parseRecords(records: readonly CsvRecord[]): CutRecord[] {
  const texts = records.map((record) => decodeUtf8(record.bytes));
  const quoted = texts.filter((text) => text?.includes('"')) as string[];
  const unquoted = parseQuoted(quoted)[Symbol.iterator]();
  return texts.map((text, index) => {
    const line = records[index]?.line ?? 0;
    if (text === undefined) return { line, cells: [], problem: NOT_UTF8 };
    const cells = text.includes('"') ? unquoted.next().value : text.split(',');
    const problem = cells === undefined ? { field: '', reason: 'has a quote in the wrong place' } : undefined;
    return { line, cells: cells ?? [], problem };
  });
}

/** The cells of each record, undefined where the quoting is wrong. All at once, since a parser is dear to set up. */
function parseQuoted(texts: readonly string[]): (readonly string[] | undefined)[] {
  if (texts.length === 0) return [];
  try {
    const records = parse(texts.join('\n'), {
      record_delimiter: '\n',
      relax_column_count: true,
      max_record_size: 0,
    });
    if (records.length === texts.length) return records;
  } catch {
    // One of them is broken; the next step finds out which.
  }
  return texts.length === 1 ? [undefined] : texts.map((text) => parseQuoted([text])[0]);
}

function checkHeader(header: CutRecord, rules: { ignoreUnknown: boolean }): readonly string[] {
  const fail = (problem: FieldProblem): never => {
    throw new BrokenFile({ line: header.line }, problem);
  };
  if (header.problem !== undefined) fail(header.problem);
  const known = new Set<string>(TRANSACTION_FIELDS);
  if (header.cells.length === 1 && SEPARATOR.test(header.cells[0] ?? '')) {
    fail({ field: 'the header', reason: 'must have commas between its columns' });
  }
  const seen = new Set<string>();
  for (const name of header.cells) {
    if (seen.has(name)) fail({ field: name, reason: 'is the name of two columns' });
    if (!known.has(name) && !rules.ignoreUnknown) fail({ field: name, reason: 'is an unknown column' });
    seen.add(name);
  }
  return header.cells;
}

function toRow({ line, cells, problem }: CutRecord, columns: readonly string[]): RawRow {
  const place = { line };
  // Without a prototype, so that even a column named `__proto__` is a field like any other.
  const value: Record<string, unknown> = Object.create(null);
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (cell !== '') value[name] = readCell(name, cell);
  }
  if (problem !== undefined) return { place, value: undefined, problem };
  if (cells.length !== columns.length) {
    const reason = `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} where the header has ${columns.length}`;
    return { place, value, problem: { field: '', reason } };
  }
  return { place, value };
}

function readCell(name: string, cell: string): unknown {
  return Object.hasOwn(NUMBER_FIELDS, name) && NUMBER.test(cell) ? parseDecimal(cell) : cell;
}
