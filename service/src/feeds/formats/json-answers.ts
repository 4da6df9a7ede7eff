// JSON answers as curl writes them: one or several in a file, each a list, a row, or an envelope with the list
// somewhere inside. Rows are cut out as bytes while the file goes by, so that an answer of any length needs the
// memory of one row. What else an envelope holds is kept and handed out at its end, with the first of its rows.

import { parseDecimal } from '../../domain/decimal.ts';
import { parseJsonRow } from '../../importer/formats/json-row.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  NEWLINE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../importer/formats/json-scan.ts';
import { BrokenFile, RowBytes } from '../../importer/formats/raw-row.ts';
import { tooLong } from '../../importer/formats/row-limits.ts';
import { isObject } from '../fields.ts';
import { FEED_LIMITS, type FeedRow } from './feed-row.ts';
import { JsonScanner } from './json-scanner.ts';

type Answer = Record<string, unknown>;

export interface AnswerRules {
  readonly lists: readonly (readonly string[])[];
  /** Called at the end of every envelope with what it holds besides its rows, and at least the first of these. */
  readonly onAnswer: (answer: Answer, line: number) => void;
}

export async function* readJsonAnswers(
  chunks: AsyncIterable<Uint8Array>,
  rules: AnswerRules,
): AsyncGenerator<FeedRow[]> {
  const cutter = new AnswerCutter(rules);
  for await (const chunk of chunks) {
    try {
      cutter.push(chunk);
    } catch (error) {
      // The rows before a break still count: their problems are told together with it.
      yield cutter.takeRows();
      throw error;
    }
    yield cutter.takeRows();
  }
  cutter.end();
}

/** An envelope that is open, with the names that led to it; or the list of rows. */
type Frame =
  | { readonly kind: 'envelope'; readonly path: readonly string[]; readonly answer: Answer; key: string }
  | { readonly kind: 'list'; readonly first: unknown[] };

/** What the next byte that is not blank has to be part of. */
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

class AnswerCutter {
  readonly #rules: AnswerRules;
  readonly #bytes = new RowBytes(FEED_LIMITS.bytes);
  readonly #frames: Frame[] = [];
  #rows: FeedRow[] = [];
  readonly #scanner = new JsonScanner();
  #expected: Expected = 'answer';
  #items = 0;
  /** Whether the envelope that is open had a list of rows. */
  #hadList = false;
  #answerLine = 1;
  /** Of what the envelope holds besides its rows. */
  #answerBytes = 0;

  // The value being cut out: whether it is a name, and where it began.
  #cutting: 'key' | 'value' | undefined;
  #valueLine = 1;

  constructor(rules: AnswerRules) {
    this.#rules = rules;
  }

  takeRows(): FeedRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
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
        const rowEnd = this.#expected === 'answer' ? this.#takeWholeRow(chunk, at) : undefined;
        if (rowEnd !== undefined) at = rowEnd;
        else if (this.#takesMark(byte)) at++;
        else this.#beginValue(byte);
      }
    }
  }

  /** Takes an object that lies in this chunk and is a row by itself, as in NDJSON; returns where to go on. */
  #takeWholeRow(chunk: Uint8Array, at: number): number | undefined {
    const probe = new JsonScanner();
    const end = chunk[at] === OPEN_OBJECT ? probe.findEnd(chunk, at, false) : undefined;
    if (end === undefined) return undefined;
    const place = { line: this.#scanner.line };
    const bytes = chunk.subarray(at, end);
    const { value, problem } = parseJsonRow(bytes, place, FEED_LIMITS, keepDigits);
    // An envelope is opened instead, so that its rows have lines of their own; one that is broken is no bad row.
    const isEnvelope = isObject(value)
      ? this.#findList(value) !== undefined
      : this.#rules.lists.some(([name = '']) => Buffer.from(bytes).includes(`"${name}"`));
    if (isEnvelope) return undefined;
    if (isObject(value)) this.#rules.onAnswer(value, place.line);
    this.#rows.push(this.#row(value, place, problem));
    this.#scanner.line += probe.line - 1;
    return end;
  }

  end(): void {
    if (this.#expected !== 'answer') this.#fail('is not complete: it ends too early');
  }

  /** Whether the byte is one of the marks between values that may stand here. */
  #takesMark(byte: number): boolean {
    const expected = this.#expected;
    const frame = this.#frames.at(-1);
    if (byte === OPEN_OBJECT && this.#opensEnvelope()) this.#openEnvelope();
    else if (byte === OPEN_LIST && this.#opensList()) this.#openList();
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

  /** Envelopes are opened only on the way to a list; everything else in them is one value. */
  #opensEnvelope(): boolean {
    if (this.#expected === 'answer') return true;
    const frame = this.#frames.at(-1);
    if (this.#expected !== 'value' || frame?.kind !== 'envelope') return false;
    const path = [...frame.path, frame.key];
    return this.#rules.lists.some((list) => list.length > path.length && startsWith(list, path));
  }

  #opensList(): boolean {
    if (this.#expected === 'answer') return true;
    const frame = this.#frames.at(-1);
    if (this.#expected !== 'value' || frame?.kind !== 'envelope') return false;
    const path = [...frame.path, frame.key];
    return this.#rules.lists.some((list) => list.length === path.length && startsWith(list, path));
  }

  #openEnvelope(): void {
    const frame = this.#frames.at(-1);
    // Without a prototype, so that even a field named `__proto__` is one like any other.
    const answer: Answer = Object.create(null);
    if (frame?.kind === 'envelope') {
      frame.answer[frame.key] = answer;
      this.#frames.push({ kind: 'envelope', path: [...frame.path, frame.key], answer, key: '' });
    } else {
      this.#hadList = false;
      this.#answerBytes = 0;
      this.#answerLine = this.#scanner.line;
      this.#frames.push({ kind: 'envelope', path: [], answer, key: '' });
    }
    this.#expected = 'key or end';
  }

  #openList(): void {
    this.#hadList = true;
    const frame = this.#frames.at(-1);
    const first: unknown[] = [];
    if (frame?.kind === 'envelope') frame.answer[frame.key] = first;
    this.#frames.push({ kind: 'list', first });
    this.#expected = 'value or end';
  }

  #close(): void {
    const frame = this.#frames.pop();
    this.#expected = this.#frames.length === 0 ? 'answer' : 'comma or end';
    if (this.#frames.length > 0 || frame?.kind !== 'envelope') return;
    this.#rules.onAnswer(frame.answer, this.#answerLine);
    // An object without a list is a row that stands alone, as in NDJSON.
    if (!this.#hadList) this.#rows.push(this.#row(frame.answer, { line: this.#answerLine }));
  }

  #beginValue(byte: number): void {
    const isKey = this.#expected === 'key' || this.#expected === 'key or end';
    const isValue = this.#expected === 'value' || this.#expected === 'value or end';
    const isMark = byte === COMMA || byte === COLON || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isMark || !(isValue || (isKey && byte === QUOTE))) this.#fail(EXPECTED_WORDS[this.#expected]);
    this.#cutting = isKey ? 'key' : 'value';
    this.#valueLine = this.#scanner.line;
  }

  /** Takes the bytes of a value up to its end or the chunk's end; returns where to go on. */
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
      const { value, problem } = parseJsonRow(bytes, { line: this.#valueLine }, FEED_LIMITS, keepDigits);
      if (this.#answerBytes > FEED_LIMITS.bytes) this.#fail(tooLong(FEED_LIMITS).reason);
      if (problem !== undefined) this.#fail(`has a field that ${problem.reason}`);
      if (frame?.kind === 'envelope' && isKey) frame.key = String(value);
      else if (frame?.kind === 'envelope') frame.answer[frame.key] = value;
    }
    this.#expected = isKey ? 'colon' : 'comma or end';
  }

  /** An item is a row; or a whole answer, where somebody has put several into one list. */
  #takeItem(first: unknown[]): void {
    const { value, problem } = parseJsonRow(
      this.#bytes.take(),
      { line: this.#valueLine },
      FEED_LIMITS,
      keepDigits,
    );
    if (first.length === 0) first.push(value);
    const list = isObject(value) ? this.#findList(value) : undefined;
    if (isObject(value) && list !== undefined) this.#rules.onAnswer(value, this.#valueLine);
    for (const row of list ?? [value]) {
      const place = { line: this.#valueLine, item: ++this.#items };
      this.#rows.push(this.#row(row, place, problem));
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

  #row(value: unknown, place: FeedRow['place'], problem?: FeedRow['problem']): FeedRow {
    return { format: 'JSON', place, value, problem };
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#scanner.line }, { field: 'the JSON', reason });
  }
}

/** A number with more digits than a double keeps stays the text that it is: it may be an id. */
function keepDigits(literal: string): unknown {
  const value = parseDecimal(literal);
  return Number.isFinite(value) ? value : literal;
}

function startsWith(list: readonly string[], path: readonly string[]): boolean {
  return path.every((name, index) => list[index] === name);
}
