// A JSON list, bare or in the envelope of our own answers. The rows are cut out as text while the bytes go
// by, so that a list of any length needs the memory of one row. What stands between the rows is checked
// here; the rows themselves are left to the JSON parser.

import { parseJsonRow } from './json-row.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  JsonScanner,
  NEWLINE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-scanner.ts';
import { BrokenFile, type RawRow, RowBytes } from './raw-row.ts';

export interface EnvelopeRules {
  readonly ignoreUnknown: boolean;
  /** Called when the envelope has a cursor, which says that the file is one page of several. */
  readonly onCursor: () => void;
}

export async function* readJsonList(
  chunks: AsyncIterable<Uint8Array>,
  rules: EnvelopeRules,
): AsyncGenerator<RawRow[]> {
  const cutter = new ListCutter(rules);
  for await (const chunk of chunks) {
    const rows: RawRow[] = [];
    try {
      cutter.push(chunk, rows);
    } catch (error) {
      // The rows before the break still count: their problems are told together with it.
      yield rows;
      throw error;
    }
    yield rows;
  }
  cutter.end();
}

/** What the next byte that is not blank has to be part of. */
type Expected =
  | 'start'
  | 'key'
  | 'colon'
  | 'member'
  | 'member end'
  | 'item or end'
  | 'item'
  | 'item end'
  | 'nothing';

const EXPECTED_WORDS: Record<Expected, string> = {
  start: 'must be a JSON list',
  key: 'needs a field name in quotes here',
  colon: 'needs a colon here',
  member: 'needs a value here',
  'member end': 'needs a comma or a closing brace here',
  'item or end': 'needs a row here',
  item: 'needs a row here',
  'item end': 'needs a comma or a closing bracket after the row',
  nothing: 'has something after its end',
};

class ListCutter {
  readonly #rules: EnvelopeRules;
  readonly #bytes = new RowBytes();
  readonly #scanner = new JsonScanner();
  #expected: Expected = 'start';
  #items = 0;
  /** The envelope's field whose value comes next; undefined in a bare list. */
  #key: string | undefined;
  #hasData = false;

  // The value being cut out: what it is, and where it began.
  #value: 'item' | 'key' | 'member' | undefined;
  #valueLine = 1;

  constructor(rules: EnvelopeRules) {
    this.#rules = rules;
  }

  push(chunk: Uint8Array, rows: RawRow[]): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#value === undefined ? this.#step(chunk, at) : this.#cut(chunk, at, rows);
    }
  }

  end(): void {
    if (this.#value === 'item') {
      const place = { line: this.#valueLine, item: this.#items };
      throw new BrokenFile(place, {
        field: '',
        reason: 'is not complete: the file ends in the middle of it',
      });
    }
    if (this.#expected !== 'nothing') this.#fail('is not closed: the file ends too early');
    if (!this.#hasData) this.#fail('has no field "data"');
  }

  /** Takes one byte between values; returns where to go on. */
  #step(chunk: Uint8Array, at: number): number {
    const byte = chunk[at];
    if (byte === NEWLINE) this.#scanner.line++;
    if (isBlank(byte)) return at + 1;
    if (this.#takesMark(byte)) return at + 1;
    this.#beginValue(byte);
    return at;
  }

  /** Whether the byte is one of the marks between values that may stand here. */
  #takesMark(byte: number | undefined): boolean {
    const before = this.#expected;
    if (before === 'start' && byte === OPEN_LIST) this.#openData();
    else if (before === 'start' && byte === OPEN_OBJECT) this.#expected = 'key';
    else if (before === 'colon' && byte === COLON) this.#expected = 'member';
    else if (before === 'member' && byte === OPEN_LIST && this.#key === 'data') this.#openData();
    else if (before === 'member end' && byte === COMMA) this.#expected = 'key';
    else if (before === 'member end' && byte === CLOSE_OBJECT) this.#expected = 'nothing';
    else if (before === 'item end' && byte === COMMA) this.#expected = 'item';
    else if ((before === 'item end' || before === 'item or end') && byte === CLOSE_LIST) {
      this.#expected = this.#key === undefined ? 'nothing' : 'member end';
    } else return false;
    return true;
  }

  #openData(): void {
    if (this.#hasData) this.#fail('has the field "data" twice');
    this.#hasData = true;
    this.#expected = 'item or end';
  }

  #beginValue(byte: number | undefined): void {
    const isKey = this.#expected === 'key' && byte === QUOTE;
    const isItem = this.#expected === 'item' || this.#expected === 'item or end';
    const isMark = byte === COMMA || byte === COLON || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isMark || !(isKey || isItem || this.#expected === 'member'))
      this.#fail(EXPECTED_WORDS[this.#expected]);
    if (this.#expected === 'member' && this.#key === 'data') this.#fail('must have a list as its "data"');
    this.#value = isKey ? 'key' : isItem ? 'item' : 'member';
    if (isItem) this.#items++;
    this.#valueLine = this.#scanner.line;
  }

  /** Takes the bytes of a value up to its end or the chunk's end; returns where to go on. */
  #cut(chunk: Uint8Array, from: number, rows: RawRow[]): number {
    const end = this.#scanner.findEnd(chunk, from, !this.#bytes.isEmpty);
    this.#bytes.add(chunk.subarray(from, end ?? chunk.length));
    if (end === undefined) return chunk.length;
    this.#endValue(rows);
    return end;
  }

  #endValue(rows: RawRow[]): void {
    const kind = this.#value;
    this.#value = undefined;
    if (kind === 'item') {
      rows.push(parseJsonRow(this.#bytes.take(), { line: this.#valueLine, item: this.#items }));
      this.#expected = 'item end';
      return;
    }
    const { value, problem } = parseJsonRow(this.#bytes.take(), { line: this.#valueLine });
    if (problem !== undefined) this.#fail(`has a field that ${problem.reason}`);
    if (kind === 'key') this.#takeKey(String(value));
    else {
      if (this.#key === 'cursor' && value !== null) this.#rules.onCursor();
      this.#expected = 'member end';
    }
  }

  #takeKey(key: string): void {
    if (key !== 'data' && key !== 'cursor' && !this.#rules.ignoreUnknown) {
      this.#fail('may have no other fields than "data" and "cursor"');
    }
    this.#key = key;
    this.#expected = 'colon';
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#scanner.line }, { field: 'the list', reason });
  }
}
