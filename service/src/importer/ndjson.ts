// NDJSON: one JSON value on each line. Blank lines are passed over; a broken line harms no other.

import { parseJsonRow } from './json-row.ts';
import { type RawRow, RowBytes } from './raw-row.ts';

const NEWLINE = 0x0a;

export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const bytes = new RowBytes();
  let line = 1;
  for await (const chunk of chunks) {
    const rows: RawRow[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      // A file of nothing but line ends unpacks to a thousand times its size, and is soon read.
      if (end > start || !bytes.isEmpty) {
        bytes.add(chunk.subarray(start, end));
        addRow(rows, bytes.take(), line);
      }
      start = end + 1;
      line++;
    }
    bytes.add(chunk.subarray(start));
    yield rows;
  }
  const last: RawRow[] = [];
  addRow(last, bytes.take(), line);
  yield last;
}

function addRow(rows: RawRow[], bytes: Uint8Array | undefined, line: number): void {
  if (bytes === undefined || !isBlank(bytes)) rows.push(parseJsonRow(bytes, { line }));
}

/** Spaces, tabs, and the carriage return of a Windows line end. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
