// Finds the end of a JSON value and counts its contents without parsing or validating it. If the bytes are not JSON, the
// result is where a value could end; the parser then reports the error.

export const NEWLINE = 0x0a;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;

export interface ValueCounts {
  /** Strings, numbers, objects and lists at all levels. An empty object or list counts twice. */
  readonly values: number;
  /** Levels of nested objects and lists. */
  readonly depth: number;
  /** Number of distinct field names; with `namesMax` fields or fewer, the number of fields. */
  readonly names: number;
}

/**
 * Counts the contents of the value at the start of the text, and the fields of its objects. Compares field names only if there are
 * more than `namesMax` fields.
 */
export function measureValue(text: string, namesMax: number): ValueCounts & { readonly fields: number } {
  const begin = text.search(/\S/);
  let [values, open, depth, fields] = [1, 0, 0, 0];
  if (!isOpening(text.charCodeAt(begin))) return { values, depth, fields, names: 0 };
  for (let at = begin; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === COMMA) values++;
    else if (code === COLON) fields++;
    else if (isOpening(code)) {
      values++;
      open++;
      if (open > depth) depth = open;
    } else if (isClosing(code)) {
      open--;
      if (open === 0) break;
    }
  }
  return { values, depth, fields, names: fields > namesMax ? countNames(text, namesMax) : fields };
}

/** Returns the number of distinct field names, and stops at `namesMax` + 1. */
function countNames(text: string, namesMax: number): number {
  const names = new Set<string>();
  let [begin, end] = [0, 0];
  for (let at = 0; at < text.length && names.size <= namesMax; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) names.add(text.slice(begin, end));
    if (code !== QUOTE) continue;
    begin = at;
    end = endOfString(text, at);
    at = end - 1;
  }
  return names.size;
}

/** Returns the index after the string that starts at this quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}

/** True for JSON white space, given a character code or a byte. */
export function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === NEWLINE || code === 0x0d || code === 0x09;
}

/** True for a byte that separates or ends values. No value starts with such a byte. */
export function isMark(byte: number | undefined): boolean {
  return byte === COMMA || byte === COLON || isClosing(byte);
}

function isOpening(byte: number | undefined): boolean {
  return byte === OPEN_LIST || byte === OPEN_OBJECT;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_LIST || byte === CLOSE_OBJECT;
}

/** True if an unquoted token, such as a number or `true`, ends before this byte. */
function endsWord(byte: number | undefined): boolean {
  return byte === QUOTE || isMark(byte) || isOpening(byte) || isBlank(byte);
}

/** Finds the ends of values across chunks. */
export class JsonScanner {
  /** The current line. The scanner counts newlines inside values; the caller counts those between values. */
  line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /**
   * Returns the index after the value; undefined if the value does not end in this chunk. `isContinued` is true if the
   * value began in an earlier chunk.
   */
  findEnd(chunk: Uint8Array, from: number, isContinued: boolean): number | undefined {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inString = false;
          if (this.#depth === 0) return at + 1;
        }
      } else if (this.#depth === 0 && (at > from || isContinued) && endsWord(byte)) return at;
      else if (byte === QUOTE) this.#inString = true;
      else if (isOpening(byte)) this.#depth++;
      else if (isClosing(byte) && --this.#depth === 0) return at + 1;
      if (byte === NEWLINE) this.line++;
    }
    return undefined;
  }
}
