// NDJSON: one JSON value per line. Blank lines are skipped, and an invalid line does not affect the others.

import { isUtf8 } from 'node:buffer';
import { parseJsonRow, parseJsonText } from './json-row.ts';
import { isBlank, NEWLINE } from './json-scan.ts';
import { type RawRow, RowBytes } from './raw-row.ts';
import type { RowLimits } from './row-limits.ts';

export interface NdjsonRules {
  readonly limits: RowLimits;
  /** Returns the value of a line that is already in canonical form; undefined for all other lines. */
  readonly readLine?: ((line: string) => object | undefined) | undefined;
}

export async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  rules: NdjsonRules,
): AsyncGenerator<RawRow[]> {
  const reader = new LineReader(rules);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    const rows = end === -1 ? [] : reader.readLines(chunk.subarray(0, end));
    reader.begin(chunk.subarray(end + 1));
    yield rows;
  }
  yield reader.readLines(new Uint8Array(0));
}

class LineReader {
  readonly #rules: NdjsonRules;
  /** The beginning of an incomplete line. */
  readonly #begun: RowBytes;
  #line = 1;

  constructor(rules: NdjsonRules) {
    this.#rules = rules;
    this.#begun = new RowBytes(rules.limits.bytes);
  }

  begin(bytes: Uint8Array): void {
    this.#begun.add(bytes);
  }

  /** Reads complete lines. The first may have begun in an earlier chunk; the last does not include its newline. */
  readLines(bytes: Uint8Array): RawRow[] {
    const rows: RawRow[] = [];
    const end = bytes.indexOf(NEWLINE);
    this.#begun.add(end === -1 ? bytes : bytes.subarray(0, end));
    this.#addRow(rows, this.#begun.take());
    if (end !== -1) this.#addWholeLines(rows, bytes.subarray(end + 1));
    return rows;
  }

  #addWholeLines(rows: RawRow[], bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    // Checked once, because decoding a line is faster if it need not be checked.
    const isText = isUtf8(bytes);
    let start = 0;
    for (let next = 0; next !== -1; start = next + 1) {
      next = buffer.indexOf(NEWLINE, start);
      const end = next === -1 ? buffer.length : next;
      // Skip empty lines early, because a small compressed file can contain millions of them.
      if (end === start) this.#line++;
      else if (isText && end - start <= this.#rules.limits.bytes) {
        this.#addText(rows, buffer.toString('utf8', start, end));
      } else {
        this.#begun.add(buffer.subarray(start, end));
        this.#addRow(rows, this.#begun.take());
      }
    }
  }

  #addText(rows: RawRow[], text: string): void {
    const { limits, readLine } = this.#rules;
    const place = { line: this.#line++ };
    const value = readLine?.(text);
    if (value !== undefined) rows.push({ place, value, length: text.length });
    else if (!BLANK.test(text)) rows.push(parseJsonText(text, place, limits));
  }

  #addRow(rows: RawRow[], bytes: Uint8Array | undefined): void {
    if (bytes === undefined || !bytes.every(isBlank))
      rows.push(parseJsonRow(bytes, { line: this.#line }, this.#rules.limits));
    this.#line++;
  }
}

/** Matches a line with only spaces, tabs, and the carriage return of a Windows line ending. */
const BLANK = /^[ \t\r]*$/;
