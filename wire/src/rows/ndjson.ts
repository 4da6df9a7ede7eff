// NDJSON: one JSON value per line. Blank lines are skipped, and an invalid line does not affect the others.

import { decodeUtf8, parseJsonRow, parseJsonText } from './json-row.ts';
import { isBlank, NEWLINE } from './json-scan.ts';
import { type RawRow, RowBytes } from './raw-row.ts';
import type { RowLimits } from './row-limits.ts';

/** Matches a line with only spaces, tabs, and the carriage return of a Windows line ending. */
const BLANK = /^[ \t\r]*$/;

/** If the lines of a chunk are no longer than this in total, they are decoded together. */
const DECODED_BYTES_MAX = 1024 * 1024;

export async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  limits: RowLimits,
): AsyncGenerator<RawRow[]> {
  const reader = new LineReader(limits);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    const rows = end === -1 ? [] : reader.readLines(chunk.subarray(0, end));
    reader.begin(chunk.subarray(end + 1));
    yield rows;
  }
  yield reader.readLines(new Uint8Array(0));
}

class LineReader {
  readonly #limits: RowLimits;
  /** The beginning of an incomplete line. */
  readonly #begun: RowBytes;
  #line = 1;

  constructor(limits: RowLimits) {
    this.#limits = limits;
    this.#begun = new RowBytes(limits.bytes);
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

  /** Decodes all lines at once, which is faster, unless some of them are not UTF-8. */
  #addWholeLines(rows: RawRow[], bytes: Uint8Array): void {
    const text = bytes.length > DECODED_BYTES_MAX ? undefined : decodeUtf8(bytes);
    let start = 0;
    if (text === undefined) {
      for (let end = 0; end !== -1; start = end + 1) {
        end = bytes.indexOf(NEWLINE, start);
        this.#begun.add(bytes.subarray(start, end === -1 ? bytes.length : end));
        this.#addRow(rows, this.#begun.take());
      }
      return;
    }
    for (let end = 0; end !== -1; start = end + 1) {
      end = text.indexOf('\n', start);
      // Skip empty lines early, because a small compressed file can contain millions of them.
      if (end > start || end === -1) {
        const line = text.slice(start, end === -1 ? text.length : end);
        if (!BLANK.test(line)) rows.push(parseJsonText(line, { line: this.#line }, this.#limits));
      }
      this.#line++;
    }
  }

  #addRow(rows: RawRow[], bytes: Uint8Array | undefined): void {
    if (bytes === undefined || !bytes.every(isBlank))
      rows.push(parseJsonRow(bytes, { line: this.#line }, this.#limits));
    this.#line++;
  }
}
