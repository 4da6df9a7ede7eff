// NDJSON: one JSON value per line. Blank lines are skipped, and an invalid line does not affect the others.

import { decodeUtf8, parseJsonRow, parseJsonText } from './json-row.ts';
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
  const cutter = new LineCutter(rules);
  for await (const chunk of chunks) yield cutter.push(chunk);
  yield cutter.end();
}

class LineCutter {
  readonly #rules: NdjsonRules;
  readonly #bytes: RowBytes;
  #line = 1;

  constructor(rules: NdjsonRules) {
    this.#rules = rules;
    this.#bytes = new RowBytes(rules.limits.bytes);
  }

  /** Returns the rows of the lines that end in this chunk. */
  push(chunk: Uint8Array): RawRow[] {
    const rows: RawRow[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      // Skip empty lines early, because a small compressed file can contain millions of them.
      if (end === start && this.#bytes.isEmpty) this.#line++;
      else {
        this.#bytes.add(chunk.subarray(start, end));
        rows.push(...this.end());
      }
      start = end + 1;
    }
    this.#bytes.add(chunk.subarray(start));
    return rows;
  }

  /** Returns the row of the line that ends here, if it is not blank. */
  end(): RawRow[] {
    const { limits, readLine } = this.#rules;
    const place = { line: this.#line++ };
    const bytes = this.#bytes.take();
    if (bytes?.every(isBlank)) return [];
    const text = bytes && decodeUtf8(bytes);
    if (text === undefined) return [parseJsonRow(bytes, place, limits)];
    const value = readLine?.(text);
    return [value === undefined ? parseJsonText(text, place, limits) : { place, value, length: text.length }];
  }
}
