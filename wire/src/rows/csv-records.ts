// Splits CSV into records while the bytes arrive. Each record has the correct line number, and an invalid record does not
// affect later ones. Does not interpret headers or cells.

import { decodeUtf8, NOT_UTF8 } from './json-row.ts';
import { NEWLINE, QUOTE } from './json-scan.ts';
import { BrokenFile, type FieldProblem, RowBytes } from './raw-row.ts';
import { type RowLimits, tooLong } from './row-limits.ts';

const RETURN = 0x0d;
const MISPLACED_QUOTE: FieldProblem = { field: '', reason: 'has a quote in the wrong place' };

export interface CsvRecord {
  /** Line on which the record starts, from 1. */
  readonly line: number;
  /** Length in bytes; 0 for a record that was too long. */
  readonly length: number;
  readonly cells: readonly string[];
  /** If set, the record has no cells. */
  readonly problem?: FieldProblem;
}

/** Ends a record at each newline outside quotes. A quote opens a quoted cell only at the start of the cell. */
export class CsvCutter {
  readonly #limits: RowLimits;
  readonly #separator: string;
  readonly #separatorEnd: number;
  readonly #bytes: RowBytes;
  #line = 1;
  #recordLine = 1;
  #inQuotes = false;
  #isQuotedCell = false;
  #previous: number;
  #hasRecord = false;

  constructor(separator: string, limits: RowLimits) {
    this.#limits = limits;
    this.#separator = separator;
    this.#separatorEnd = Buffer.from(separator).at(-1) ?? 0;
    this.#bytes = new RowBytes(limits.bytes);
    this.#previous = this.#separatorEnd;
  }

  /** Returns the records that end in this chunk. Empty lines are not records. */
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
      // Like a separator, a newline starts a new cell.
      this.#previous = byte === NEWLINE ? this.#separatorEnd : byte;
    }
    this.#bytes.add(chunk.subarray(start));
    return records;
  }

  /** Returns the last record if the file does not end with a newline. */
  end(): CsvRecord[] {
    if (this.#inQuotes) {
      const problem = { field: '', reason: 'has a quote that is never closed' };
      throw new BrokenFile({ line: this.#recordLine }, problem);
    }
    const records: CsvRecord[] = [];
    this.#endRecord(records, this.#line);
    return records;
  }

  #takeQuote(): void {
    const startsCell = !this.#inQuotes && this.#previous === this.#separatorEnd;
    // Two quotes in a quoted cell are an escaped quote: the first closes the cell, the second reopens it.
    const reopens = !this.#inQuotes && this.#isQuotedCell && this.#previous === QUOTE;
    if (!this.#inQuotes) this.#isQuotedCell = startsCell || reopens;
    this.#inQuotes = startsCell || reopens;
  }

  #endRecord(records: CsvRecord[], lastLine: number): void {
    const line = this.#recordLine;
    this.#recordLine = this.#line;
    const bytes = this.#bytes.take();
    if (bytes === undefined) {
      const { field, reason } = tooLong(this.#limits);
      const hint = lastLine === line ? '' : `, up to line ${lastLine}; is a quote not closed?`;
      records.push({ line, length: 0, cells: [], problem: { field, reason: reason + hint } });
      return;
    }
    const { length } = bytes;
    const record = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
    if (record.length === 0) return;
    if (!this.#hasRecord) checkLineEnds(record, line);
    this.#hasRecord = true;
    const text = decodeUtf8(record);
    const cells = text === undefined ? undefined : parseCells(text, this.#separator);
    if (cells !== undefined) records.push({ line, length, cells });
    else records.push({ line, length, cells: [], problem: text === undefined ? NOT_UTF8 : MISPLACED_QUOTE });
  }
}

/** Some spreadsheets can still save bare carriage returns as line endings, which would make the whole file one record. */
function checkLineEnds(bytes: Uint8Array, line: number): void {
  if (!bytes.includes(RETURN) || bytes.includes(NEWLINE)) return;
  const reason = 'has bare carriage returns as line endings; save it with Unix or Windows line endings';
  throw new BrokenFile({ line }, { field: 'the file', reason });
}

/** Returns the cells of one record; undefined if a quote is in the wrong place. */
function parseCells(record: string, separator: string): string[] | undefined {
  if (!record.includes('"')) return record.split(separator);
  const cells: string[] = [];
  for (let start = 0; ; ) {
    const isQuoted = record[start] === '"';
    const end = isQuoted ? endOfQuoted(record, start) : record.indexOf(separator, start);
    const cell = record.slice(start, end === -1 ? undefined : end);
    if (isQuoted ? end === -1 : cell.includes('"')) return undefined;
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    start += cell.length;
    if (start === record.length) return cells;
    if (!record.startsWith(separator, start)) return undefined;
    start += separator.length;
  }
}

/** Returns the index after the closing quote of the cell that starts at `start`; -1 if the quote is not closed. */
function endOfQuoted(record: string, start: number): number {
  let quote = record.indexOf('"', start + 1);
  while (quote !== -1 && record[quote + 1] === '"') quote = record.indexOf('"', quote + 2);
  return quote === -1 ? -1 : quote + 1;
}
