// JSON lists, bare or inside an envelope: one per file, or several responses of a network as curl writes them. Cuts out rows
// as bytes while the file is read, so that a list of any length needs the memory of one row. The other fields of an envelope
// are passed to `onAnswer` at its end, with the first row.

import { isTwice, type NumberReader, parseJsonRow } from './json-row.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  isMark,
  JsonScanner,
  NEWLINE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-scan.ts';
import { BrokenFile, cutRows, isObject, type Place, type RawRow, RowBytes } from './raw-row.ts';
import { type RowLimits, tooLong } from './row-limits.ts';

type Answer = Record<string, unknown>;

export interface ListRules {
  /** Name for messages. */
  readonly name: 'the list' | 'the JSON';
  /** Paths of field names from an envelope to its list. */
  readonly lists: readonly (readonly string[])[];
  /** Allows several envelopes, in sequence or in a list, and single rows as in NDJSON. */
  readonly areMany: boolean;
  readonly limits: RowLimits;
  readonly readNumber?: NumberReader;
  /** Called at the end of every envelope with its fields and at least the first of its rows. */
  readonly onAnswer: (answer: Answer, line: number) => void;
}

export function readJsonLists(chunks: AsyncIterable<Uint8Array>, rules: ListRules): AsyncGenerator<RawRow[]> {
  return cutRows(rules.areMany ? endingWithLines(chunks) : chunks, new ListCutter(rules));
}

/** Well above the length of an NDJSON row. A list is often one long line, which must not be buffered. */
const HELD_BYTES_MAX = 256 * 1024;

/** Re-cuts the chunks at line ends, so that an NDJSON row is in one chunk wherever it is in the file. */
async function* endingWithLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([held, chunk]);
    const lineStart = bytes.lastIndexOf(NEWLINE) + 1;
    const end = bytes.length - lineStart > HELD_BYTES_MAX ? bytes.length : lineStart;
    yield bytes.subarray(0, end);
    held = bytes.subarray(end);
  }
  yield held;
}

/** An open envelope with its path, or the open list of rows. */
type Frame =
  | { readonly kind: 'envelope'; readonly path: readonly string[]; readonly answer: Answer; key: string }
  | { readonly kind: 'list'; readonly first: unknown[] };

/** What the next non-blank byte must belong to. */
type Expected = 'answer' | 'key' | 'key or end' | 'colon' | 'value' | 'value or end' | 'comma or end';

const EXPECTED_WORDS: Record<Expected, string> = {
  answer: 'must be JSON lists or objects',
  key: 'needs a field name in quotes here',
  'key or end': 'needs a field name in quotes here',
  colon: 'needs a colon here',
  value: 'needs a value here',
  'value or end': 'needs a value here',
  'comma or end': 'needs a comma or a closing bracket here',
};

class ListCutter {
  readonly rows: RawRow[] = [];
  readonly #rules: ListRules;
  readonly #bytes: RowBytes;
  readonly #frames: Frame[] = [];
  readonly #scanner = new JsonScanner();
  #expected: Expected = 'answer';
  #items = 0;
  #hadAnswer = false;
  /** True if the open envelope had a list of rows. */
  #hadList = false;
  #answerLine = 1;
  /** Size of the envelope's fields without its rows. */
  #answerBytes = 0;
  /** First duplicate field of the envelope, in case it turns out to be a row. */
  #twice: string | undefined;

  // The field name or value that is being cut out, and its first line.
  #cutting: 'key' | 'value' | undefined;
  #valueLine = 1;

  constructor(rules: ListRules) {
    this.#rules = rules;
    this.#bytes = new RowBytes(rules.limits.bytes);
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const byte = chunk[at] ?? 0;
      if (this.#cutting !== undefined) at = this.#cut(chunk, at);
      else if (isBlank(byte)) {
        if (byte === NEWLINE) this.#scanner.line++;
        at++;
      } else {
        const rowEnd = this.#expected === 'answer' ? this.#beginAnswer(chunk, at) : undefined;
        if (rowEnd !== undefined) at = rowEnd;
        else if (this.#takesMark(byte)) at++;
        else this.#beginValue(byte);
      }
    }
  }

  /** Index after a single row; undefined if a list or an envelope begins. */
  #beginAnswer(chunk: Uint8Array, at: number): number | undefined {
    if (this.#rules.areMany) return this.#takeWholeRow(chunk, at);
    if (this.#hadAnswer) this.#fail('has content after its end');
    this.#hadAnswer = true;
    return undefined;
  }

  /** Takes an object that is a row by itself, as in NDJSON, and ends in this chunk; returns the index after it. */
  #takeWholeRow(chunk: Uint8Array, at: number): number | undefined {
    const probe = new JsonScanner();
    const end = chunk[at] === OPEN_OBJECT ? probe.findEnd(chunk, at, false) : undefined;
    if (end === undefined) return undefined;
    const place = { line: this.#scanner.line };
    const bytes = chunk.subarray(at, end);
    const row = this.#parse(bytes, place);
    const { value } = row;
    // Open an envelope instead, so that its rows get their own lines. A broken envelope is not an invalid row.
    const isEnvelope = isObject(value)
      ? this.#findList(value) !== undefined
      : this.#rules.lists.some(([name = '']) => Buffer.from(bytes).includes(`"${name}"`));
    if (isEnvelope) return undefined;
    if (isObject(value)) this.#rules.onAnswer(value, place.line);
    this.rows.push(row);
    this.#scanner.line += probe.line - 1;
    return end;
  }

  end(): void {
    if (this.#expected === 'answer') return;
    const isInRow = this.#cutting === 'value' && this.#frames.at(-1)?.kind === 'list';
    const place = isInRow ? { line: this.#valueLine, item: this.#items + 1 } : { line: this.#scanner.line };
    throw new BrokenFile(place, { field: this.#rules.name, reason: 'is not complete: it ends too early' });
  }

  /** Consumes a bracket, colon or comma that is allowed here; returns false for any other byte. */
  #takesMark(byte: number): boolean {
    const expected = this.#expected;
    const frame = this.#frames.at(-1);
    if (byte === OPEN_OBJECT && this.#opens('envelope')) this.#openEnvelope();
    else if (byte === OPEN_LIST && this.#opens('list')) this.#openList();
    else if (byte === COLON && expected === 'colon') this.#expected = 'value';
    else if (byte === COMMA && expected === 'comma or end')
      this.#expected = frame?.kind === 'list' ? 'value' : 'key';
    else if (
      byte === (frame?.kind === 'list' ? CLOSE_LIST : CLOSE_OBJECT) &&
      (expected === 'comma or end' || expected === 'key or end' || expected === 'value or end')
    )
      this.#close();
    else return false;
    return true;
  }

  /** True for the list of rows, and for an envelope on its path. Everything else is cut out as one value. */
  #opens(kind: Frame['kind']): boolean {
    if (this.#expected === 'answer') return true;
    const frame = this.#frames.at(-1);
    if (this.#expected !== 'value' || frame?.kind !== 'envelope') return false;
    const path = [...frame.path, frame.key];
    return this.#rules.lists.some(
      (list) =>
        path.every((name, index) => list[index] === name) &&
        (list.length === path.length) === (kind === 'list'),
    );
  }

  #openEnvelope(): void {
    const frame = this.#frames.at(-1);
    // No prototype, so that a field named `__proto__` is an ordinary field.
    const answer: Answer = Object.create(null);
    if (frame?.kind === 'envelope') {
      frame.answer[frame.key] = answer;
      this.#frames.push({ kind: 'envelope', path: [...frame.path, frame.key], answer, key: '' });
    } else {
      this.#hadList = false;
      this.#answerBytes = 0;
      this.#twice = undefined;
      this.#answerLine = this.#scanner.line;
      this.#frames.push({ kind: 'envelope', path: [], answer, key: '' });
    }
    this.#expected = 'key or end';
  }

  #openList(): void {
    this.#hadList = true;
    const frame = this.#frames.at(-1);
    const first: unknown[] = [];
    if (frame?.kind === 'envelope') {
      if (Object.hasOwn(frame.answer, frame.key)) this.#fail(`has the field "${frame.key}" twice`);
      frame.answer[frame.key] = first;
    }
    this.#frames.push({ kind: 'list', first });
    this.#expected = 'value or end';
  }

  #close(): void {
    const frame = this.#frames.pop();
    this.#expected = this.#frames.length === 0 ? 'answer' : 'comma or end';
    if (this.#frames.length > 0 || frame?.kind !== 'envelope') return;
    this.#rules.onAnswer(frame.answer, this.#answerLine);
    if (this.#hadList) return;
    // An object without a list is a single row, as in NDJSON.
    const row = { place: { line: this.#answerLine }, value: frame.answer, length: this.#answerBytes };
    const twice = this.#twice;
    this.rows.push(twice === undefined ? row : { ...row, value: undefined, problem: isTwice(twice) });
  }

  #beginValue(byte: number): void {
    const isKey = this.#expected === 'key' || this.#expected === 'key or end';
    const isValue = this.#expected === 'value' || this.#expected === 'value or end';
    if (isMark(byte) || !(isValue || (isKey && byte === QUOTE))) this.#fail(EXPECTED_WORDS[this.#expected]);
    this.#cutting = isKey ? 'key' : 'value';
    this.#valueLine = this.#scanner.line;
  }

  /** Takes the bytes of a value up to its end or the end of the chunk; returns the index after them. */
  #cut(chunk: Uint8Array, from: number): number {
    const end = this.#scanner.findEnd(chunk, from, !this.#bytes.isEmpty);
    this.#bytes.add(chunk.subarray(from, end ?? chunk.length));
    if (end === undefined) return chunk.length;
    this.#endValue();
    return end;
  }

  #endValue(): void {
    const isKey = this.#cutting === 'key';
    this.#cutting = undefined;
    const frame = this.#frames.at(-1);
    if (frame?.kind === 'list') this.#takeItem(frame.first);
    else {
      const bytes = this.#bytes.take();
      this.#answerBytes += bytes?.length ?? 0;
      const { value, problem } = this.#parse(bytes, { line: this.#valueLine });
      const { limits } = this.#rules;
      if (this.#answerBytes > limits.bytes) this.#fail(tooLong(limits).reason);
      if (problem !== undefined) this.#fail(`has a field that ${problem.reason}`);
      if (frame?.kind === 'envelope' && isKey) frame.key = String(value);
      else if (frame?.kind === 'envelope') {
        // A duplicate is ambiguous: a second cursor could make a page look like the whole list.
        if (Object.hasOwn(frame.answer, frame.key)) {
          if (!this.#rules.areMany) this.#fail('has a field twice');
          this.#twice ??= frame.key;
        }
        frame.answer[frame.key] = value;
      }
    }
    this.#expected = isKey ? 'colon' : 'comma or end';
  }

  /** An item is a row, or an envelope if several responses were put into one list. */
  #takeItem(first: unknown[]): void {
    const row = this.#parse(this.#bytes.take(), { line: this.#valueLine, item: this.#items + 1 });
    const { value, length } = row;
    if (first.length === 0) first.push(value);
    const list = this.#rules.areMany && isObject(value) ? this.#findList(value) : undefined;
    if (isObject(value) && list !== undefined) {
      this.#rules.onAnswer(value, this.#valueLine);
      for (const item of list)
        this.rows.push({ place: { line: this.#valueLine, item: ++this.#items }, value: item, length });
    } else {
      this.#items++;
      this.rows.push(row);
    }
  }

  #findList(answer: Answer): readonly unknown[] | undefined {
    for (const path of this.#rules.lists) {
      let found: unknown = answer;
      for (const name of path)
        found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
      if (Array.isArray(found) && path.length > 0) return found;
    }
    return undefined;
  }

  #parse(bytes: Uint8Array | undefined, place: Place): RawRow {
    const { limits, readNumber } = this.#rules;
    return parseJsonRow(bytes, place, limits, readNumber);
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#scanner.line }, { field: this.#rules.name, reason });
  }
}
