// A JSON list, bare or in the envelope of our own answers. It is held in memory as a whole; a limit on its length
// makes that possible. Its rows are cut out as text and parsed one by one, so that each has its place, its limits and
// its own problems. What stands between the rows is checked here.

import { parseJsonRow } from './json-row.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  isMark,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  scanValue,
} from './json-scan.ts';
import { BrokenFile, type Place, type RawRow } from './raw-row.ts';
import type { RowLimits } from './row-limits.ts';

/** Of the list as it is unpacked. NDJSON has no such limit. */
const LIST_BYTES_MAX = 32 * 1024 * 1024;

const NEWLINE = 0x0a;

export interface EnvelopeRules {
  readonly limits: RowLimits;
  readonly ignoreUnknown: boolean;
  /** Called when the envelope has a cursor, which says that the file is one page of several. */
  readonly onCursor: () => void;
}

export async function* readJsonList(
  chunks: AsyncIterable<Uint8Array>,
  rules: EnvelopeRules,
): AsyncGenerator<RawRow[]> {
  const reader = new ListReader(await readWhole(chunks), rules);
  for (const row of reader.rows()) yield [row];
}

async function readWhole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  // Grows in place: to join the chunks in the end would take twice the memory.
  const buffer = new ArrayBuffer(0, { maxByteLength: LIST_BYTES_MAX });
  for await (const chunk of chunks) {
    const start = buffer.byteLength;
    if (start + chunk.length > LIST_BYTES_MAX) throw tooLong(Buffer.from(buffer));
    buffer.resize(start + chunk.length);
    new Uint8Array(buffer, start).set(chunk);
  }
  return Buffer.from(buffer);
}

function tooLong(list: Buffer): BrokenFile {
  const rows = list.find((byte) => !isBlank(byte)) === OPEN_OBJECT ? '.data[]' : '.[]';
  const size = `${LIST_BYTES_MAX / 2 ** 20} MiB`;
  const reason = `is longer than ${size}; write it as NDJSON, which may have any length, for example with jq -c '${rows}'`;
  return new BrokenFile({ line: 1 }, { field: 'the list', reason });
}

class ListReader {
  readonly #bytes: Buffer;
  readonly #rules: EnvelopeRules;
  #at = 0;
  #line = 1;
  #items = 0;

  constructor(bytes: Buffer, rules: EnvelopeRules) {
    this.#bytes = bytes;
    this.#rules = rules;
  }

  *rows(): Generator<RawRow> {
    if (this.#takes(OPEN_LIST)) yield* this.#readItems();
    else yield* this.#readEnvelope();
    this.#skipBlanks();
    if (this.#at < this.#bytes.length) this.#fail('has something after its end');
  }

  /** Takes what follows the opening bracket, up to and with the closing one. */
  *#readItems(): Generator<RawRow> {
    if (this.#takes(CLOSE_LIST)) return;
    do {
      this.#requireValue('needs a row here');
      const place: Place = { line: this.#line, item: ++this.#items };
      yield parseJsonRow(this.#takeRow(place), place, this.#rules.limits);
    } while (this.#takes(COMMA));
    this.#require(CLOSE_LIST, 'needs a comma or a closing bracket after the row');
  }

  *#readEnvelope(): Generator<RawRow> {
    this.#require(OPEN_OBJECT, 'must be a JSON list');
    let hasData = false;
    do {
      if (this.#peek() !== QUOTE) this.#fail('needs a field name in quotes here');
      const name = this.#readMember();
      this.#require(COLON, 'needs a colon here');
      if (name === 'data') {
        if (hasData) this.#fail('has the field "data" twice');
        hasData = true;
        this.#require(OPEN_LIST, 'must have a list as its "data"');
        yield* this.#readItems();
        continue;
      }
      if (name !== 'cursor' && !this.#rules.ignoreUnknown)
        this.#fail('may have no other fields than "data" and "cursor"');
      this.#requireValue('needs a value here');
      if (this.#readMember() !== null && name === 'cursor') this.#rules.onCursor();
    } while (this.#takes(COMMA));
    this.#require(CLOSE_OBJECT, 'needs a comma or a closing brace here');
    if (!hasData) this.#fail('has no field "data"');
  }

  /** The name or the value of a field of the envelope. */
  #readMember(): unknown {
    const bytes = this.#takeValue() ?? this.#fail('is not closed: the file ends too early');
    const { value, problem } = parseJsonRow(bytes, { line: this.#line }, this.#rules.limits);
    if (problem !== undefined) this.#fail(`has a field that ${problem.reason}`);
    return value;
  }

  #takeRow(place: Place): Uint8Array {
    const row = this.#takeValue();
    if (row !== undefined) return row;
    throw new BrokenFile(place, { field: '', reason: 'is not complete: the file ends in the middle of it' });
  }

  /** The bytes of the value that starts here; undefined when the file ends before it does. */
  #takeValue(): Uint8Array | undefined {
    const { end } = scanValue(this.#bytes, this.#at);
    if (end === undefined) return undefined;
    const value = this.#bytes.subarray(this.#at, end);
    for (let at = value.indexOf(NEWLINE); at !== -1; at = value.indexOf(NEWLINE, at + 1)) this.#line++;
    this.#at = end;
    return value;
  }

  /** Whether the next byte is this one, which is then taken. */
  #takes(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at++;
    return true;
  }

  #require(byte: number, reason: string): void {
    if (!this.#takes(byte)) this.#fail(reason);
  }

  #requireValue(reason: string): void {
    if (isMark(this.#peek())) this.#fail(reason);
  }

  /** The next byte that is not blank. Fails at the end of the file. */
  #peek(): number {
    this.#skipBlanks();
    return this.#bytes[this.#at] ?? this.#fail('is not closed: the file ends too early');
  }

  #skipBlanks(): void {
    for (; isBlank(this.#bytes[this.#at]); this.#at++) if (this.#bytes[this.#at] === NEWLINE) this.#line++;
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#line }, { field: 'the list', reason });
  }
}
