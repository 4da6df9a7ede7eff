// Finds the end of a JSON value, and counts what is in one, without making anything of it. No validator: for bytes
// that are not JSON the answer is where a value could end, and the parser says what is wrong.

export const NEWLINE = 0x0a;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;

interface Extent {
  /** Texts, numbers, objects and lists, all levels together. An empty object or list counts twice. */
  readonly values: number;
  /** How many objects and lists are open at once. */
  readonly depth: number;
  /** How many different names its fields have; no more are counted than was asked for. */
  readonly names: number;
}

/** What the value has that the bytes begin with. */
export function measureValue(bytes: Buffer, namesCounted: number): Extent {
  if (!isOpening(bytes[0])) return { values: 1, depth: 0, names: 0 };
  const names = new Set<string>();
  let [values, open, depth, stringStart, stringEnd] = [1, 0, 0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      stringStart = at;
      stringEnd = endOfString(bytes, at) ?? bytes.length;
      at = stringEnd - 1;
    } else if (byte === COMMA) values++;
    else if (byte === COLON) {
      if (names.size < namesCounted) names.add(bytes.toString('latin1', stringStart, stringEnd));
    } else if (isOpening(byte)) {
      values++;
      open++;
      if (open > depth) depth = open;
    } else if (isClosing(byte)) {
      open--;
      if (open === 0) break;
    }
  }
  return { values, depth, names: names.size };
}

/** White space between the tokens of JSON; takes the code of a character or a byte. */
export function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === NEWLINE || code === 0x0d || code === 0x09;
}

/** Whether a value cannot start with this byte, which stands between values. */
export function isMark(byte: number | undefined): boolean {
  return byte === COMMA || byte === COLON || isClosing(byte);
}

function isOpening(byte: number | undefined): boolean {
  return byte === OPEN_LIST || byte === OPEN_OBJECT;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_LIST || byte === CLOSE_OBJECT;
}

/** Whether a number, `true` or anything else without quotes ends before this byte. */
function endsWord(byte: number | undefined): boolean {
  return byte === QUOTE || isMark(byte) || isOpening(byte) || isBlank(byte);
}

function endOfString(bytes: Uint8Array, start: number): number | undefined {
  let quote = bytes.indexOf(QUOTE, start + 1);
  while (quote !== -1 && isEscaped(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1);
  return quote === -1 ? undefined : quote + 1;
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let start = at;
  while (bytes[start - 1] === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}

/** Finds where values end while the bytes go by, chunk by chunk. */
export class JsonScanner {
  /** Counts the lines inside of values; those between them are counted by the caller. */
  line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Where the value ends, if it does in this chunk. Continued is one that began in a chunk before. */
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
