// JSON lists, bare or inside an envelope: one per file, or several network responses as curl writes them. Cuts out each row
// as bytes while the file is read, so a list of any length needs only the memory of one row.

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
import { BrokenFile, cutRows, isObject, type RawRow, RowBytes, type RowPosition } from './raw-row.ts';
import { type RowLimits, tooLong } from './row-limits.ts';

type JsonResponse = Record<string, unknown>;

interface ListRules {
  /** Field names on the path from an envelope to its list. */
  readonly lists: readonly (readonly string[])[];
  /** Allows several envelopes, in sequence or in a list, and single rows as in NDJSON. */
  readonly areMany: boolean;
  readonly limits: RowLimits;
  readonly readNumber?: NumberReader;
  /** Called with each envelope, and with each single row that is an object. An envelope's list may end after its first row. */
  readonly onResponse: (response: JsonResponse, line: number) => void;
}

export function readJsonLists(chunks: AsyncIterable<Uint8Array>, rules: ListRules): AsyncGenerator<RawRow[]> {
  return cutRows(rules.areMany ? endingWithLines(chunks) : chunks, new ListCutter(rules));
}

/** Well above the length of an NDJSON row. A list is often one long line, which must not be buffered. */
const HELD_BYTES_MAX = 256 * 1024;

/** Splits the input into chunks that end with a newline, so that an NDJSON row is always in one chunk. */
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

/** A step of the parser; yields when it needs the next chunk. */
type Step<Result> = Generator<undefined, Result>;

/** A recursive descent parser that is suspended at the end of each chunk. */
class ListCutter {
  readonly rows: RawRow[] = [];
  readonly #rules: ListRules;
  readonly #scanner = new JsonScanner();
  readonly #bytes: RowBytes;
  readonly #parser = this.#readResponses();
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #items = 0;
  #isInResponse = false;
  /** The row that is being read. */
  #openRow: RowPosition | undefined;
  /** True if the open envelope had a list of rows. */
  #hadList = false;
  /** Size of the open envelope's fields without its rows. */
  #responseLength = 0;
  /** First duplicate field of the open envelope, in case the envelope turns out to be a row. */
  #twice: string | undefined;

  constructor(rules: ListRules) {
    this.#rules = rules;
    this.#bytes = new RowBytes(rules.limits.bytes);
  }

  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#at = 0;
    this.#parser.next();
  }

  end(): void {
    if (this.#isInResponse) this.#fail('is incomplete: it ends too early', this.#openRow);
  }

  *#readResponses(): Step<never> {
    const { areMany } = this.#rules;
    for (let count = 0; ; count++) {
      const byte = yield* this.#peek();
      if (count > 0 && !areMany) this.#fail('has content after its end');
      if (areMany && byte === OPEN_OBJECT && this.#takeWholeRow()) continue;
      this.#isInResponse = true;
      if (byte === OPEN_LIST) yield* this.#readItems([]);
      else if (byte === OPEN_OBJECT) yield* this.#readResponse();
      else this.#fail('must be JSON lists or objects');
      this.#isInResponse = false;
    }
  }

  /** Consumes an object that is itself a row, as in NDJSON, if it ends in this chunk. */
  #takeWholeRow(): boolean {
    const scanner = new JsonScanner();
    const end = scanner.findEnd(this.#chunk, this.#at, false);
    if (end === undefined) return false;
    const bytes = this.#chunk.subarray(this.#at, end);
    const { line } = this.#scanner;
    const row = this.#parse(bytes, { line });
    const { value } = row;
    // Read an envelope item by item instead, so that each row gets its own line number. A broken envelope is not an invalid
    // row.
    const isEnvelope = isObject(value)
      ? this.#findList(value) !== undefined
      : this.#rules.lists.some(([name = '']) => Buffer.from(bytes).includes(`"${name}"`));
    if (isEnvelope) return false;
    if (isObject(value)) this.#rules.onResponse(value, line);
    this.rows.push(row);
    this.#scanner.line += scanner.line - 1;
    this.#at = end;
    return true;
  }

  *#readResponse(): Step<void> {
    const { line } = this.#scanner;
    this.#hadList = false;
    this.#responseLength = 0;
    this.#twice = undefined;
    const response = yield* this.#readEnvelope([]);
    this.#rules.onResponse(response, line);
    if (this.#hadList) return;
    // An object without a list is a single row, as in NDJSON.
    const row = { place: { line }, value: response, length: this.#responseLength };
    const twice = this.#twice;
    this.rows.push(twice === undefined ? row : { ...row, value: undefined, problem: isTwice(twice) });
  }

  *#readEnvelope(path: readonly string[]): Step<JsonResponse> {
    // No prototype, so that a field named `__proto__` is an ordinary field.
    const response: JsonResponse = Object.create(null);
    this.#at++;
    if (yield* this.#takes(CLOSE_OBJECT)) return response;
    do {
      const key = yield* this.#readKey();
      const byte = yield* this.#peek();
      const isTaken = Object.hasOwn(response, key);
      if (byte === OPEN_LIST && this.#isOnPath([...path, key], true)) {
        if (isTaken) this.#fail(`has the field "${key}" twice`);
        const items: unknown[] = [];
        response[key] = items;
        yield* this.#readItems(items);
      } else if (byte === OPEN_OBJECT && this.#isOnPath([...path, key], false)) {
        response[key] = yield* this.#readEnvelope([...path, key]);
      } else {
        const value = this.#takeField(yield* this.#readValue());
        // A duplicate is ambiguous: a second cursor could make a page look like the whole list.
        if (isTaken && !this.#rules.areMany) this.#fail('has a field twice');
        if (isTaken) this.#twice ??= key;
        response[key] = value;
      }
    } while (yield* this.#takesComma(CLOSE_OBJECT));
    return response;
  }

  /** True if the path leads to a list of rows, or to an envelope around one. */
  #isOnPath(path: readonly string[], isList: boolean): boolean {
    return this.#rules.lists.some(
      (list) => path.every((name, index) => list[index] === name) && (list.length === path.length) === isList,
    );
  }

  *#readKey(): Step<string> {
    if ((yield* this.#peek()) !== QUOTE) this.#fail('needs a field name in quotes here');
    const key = String(this.#takeField(yield* this.#readValue()));
    if (!(yield* this.#takes(COLON))) this.#fail('needs a colon here');
    return key;
  }

  /** Reads the rows of a list, and adds the first to `first`. */
  *#readItems(first: unknown[]): Step<void> {
    this.#hadList = true;
    this.#at++;
    if (yield* this.#takes(CLOSE_LIST)) return;
    do {
      const row = yield* this.#readValue(this.#items + 1);
      if (first.length === 0) first.push(row.value);
      this.#takeItem(row);
    } while (yield* this.#takesComma(CLOSE_LIST));
  }

  /** An item is a row, or an envelope if several responses were put into one list. */
  #takeItem(row: RawRow): void {
    const { place, value, length } = row;
    const list = this.#rules.areMany && isObject(value) ? this.#findList(value) : undefined;
    if (isObject(value) && list !== undefined) {
      this.#rules.onResponse(value, place.line);
      for (const item of list)
        this.rows.push({ place: { line: place.line, item: ++this.#items }, value: item, length });
    } else {
      this.#items++;
      this.rows.push(row);
    }
  }

  #findList(response: JsonResponse): readonly unknown[] | undefined {
    for (const path of this.#rules.lists) {
      let found: unknown = response;
      for (const name of path)
        found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
      if (Array.isArray(found) && path.length > 0) return found;
    }
    return undefined;
  }

  /** Returns a field name or a field value of an envelope. */
  #takeField({ value, length, problem }: RawRow): unknown {
    const { limits } = this.#rules;
    this.#responseLength += length;
    if (this.#responseLength > limits.bytes) this.#fail(tooLong(limits).reason);
    if (problem !== undefined) this.#fail(`has a field that ${problem.reason}`);
    return value;
  }

  /** Reads a value. If the value is a row, `item` is its number. */
  *#readValue(item?: number): Step<RawRow> {
    if (isMark(yield* this.#peek())) this.#fail('needs a value here');
    const place = { line: this.#scanner.line, item };
    if (item !== undefined) this.#openRow = place;
    while (true) {
      const end = this.#scanner.findEnd(this.#chunk, this.#at, !this.#bytes.isEmpty);
      this.#bytes.add(this.#chunk.subarray(this.#at, end));
      this.#at = end ?? this.#chunk.length;
      if (end !== undefined) break;
      yield;
    }
    this.#openRow = undefined;
    return this.#parse(this.#bytes.take(), place);
  }

  #parse(bytes: Uint8Array | undefined, place: RowPosition): RawRow {
    const { limits, readNumber } = this.#rules;
    return parseJsonRow(bytes, place, limits, readNumber);
  }

  /** Consumes a comma or the closing bracket; returns true for a comma. */
  *#takesComma(closing: number): Step<boolean> {
    if (yield* this.#takes(COMMA)) return true;
    if (yield* this.#takes(closing)) return false;
    return this.#fail('needs a comma or a closing bracket here');
  }

  /** Consumes the next byte if it is the given one. */
  *#takes(wanted: number): Step<boolean> {
    const isNext = (yield* this.#peek()) === wanted;
    if (isNext) this.#at++;
    return isNext;
  }

  /** Skips white space and returns the next byte without consuming it. */
  *#peek(): Step<number> {
    for (; ; this.#at++) {
      while (this.#at === this.#chunk.length) yield;
      const byte = this.#chunk[this.#at] ?? 0;
      if (!isBlank(byte)) return byte;
      if (byte === NEWLINE) this.#scanner.line++;
    }
  }

  #fail(reason: string, place: RowPosition = { line: this.#scanner.line }): never {
    throw new BrokenFile(place, { field: this.#rules.areMany ? 'the JSON' : 'the list', reason });
  }
}
