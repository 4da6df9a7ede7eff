// NDJSON: one JSON value on each line. Blank lines are passed over; a broken line harms no other.

import { decodeUtf8, parseJsonRow, parseJsonText } from './json-row.ts';
import { isBlank, NEWLINE } from './json-scan.ts';
import { type RawRow, RowBytes } from './raw-row.ts';
import type { RowLimits } from './row-limits.ts';

/** Nothing but spaces, tabs, and the carriage return of a Windows line end. */
const BLANK = /^[ \t\r]*$/;

/** Lines that came in one chunk are decoded together up to this length. */
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
  /** A line whose end has not come yet. */
  readonly #begun: RowBytes;
  #line = 1;

  constructor(limits: RowLimits) {
    this.#limits = limits;
    this.#begun = new RowBytes(limits.bytes);
  }

  begin(bytes: Uint8Array): void {
    this.#begun.add(bytes);
  }

  /** The rows of some lines, the last one without its line end. The first may have begun before. */
  readLines(bytes: Uint8Array): RawRow[] {
    const rows: RawRow[] = [];
    const end = bytes.indexOf(NEWLINE);
    this.#begun.add(end === -1 ? bytes : bytes.subarray(0, end));
    this.#addRow(rows, this.#begun.take());
    if (end !== -1) this.#addWholeLines(rows, bytes.subarray(end + 1));
    return rows;
  }

  /** Decoding lines together takes a third less time than one by one, which is done only where one is not UTF-8. */
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
      // A file of nothing but line ends unpacks to a thousand times its size, and is soon read.
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
