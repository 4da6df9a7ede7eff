// Finds values in JSON text as JSON.stringify prints it, without making anything of them. Parsing half a
// million deals would leave a gigabyte to the garbage collector, which holds up requests while it cleans up.
// The text must be trusted: this is no validator, and it does not know white space.

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a value lies: [begin, end) of the bytes. */
export interface Span {
  begin: number;
  end: number;
}

/** Finds the values of certain fields, in one object after the other. */
export class FieldFinder<Key extends string> {
  /** Of the object that was looked at last. */
  readonly found: Readonly<Record<Key, Readonly<Span>>>;
  readonly #fields: readonly { readonly key: Buffer; readonly span: Span }[];

  constructor(...keys: readonly Key[]) {
    this.#fields = keys.map((key) => ({ key: Buffer.from(JSON.stringify(key)), span: { begin: 0, end: 0 } }));
    this.found = Object.fromEntries(
      keys.map((key, index) => [key, this.#fields[index]?.span]),
    ) as unknown as Record<Key, Span>;
  }

  /** Takes the position of the object's opening brace; returns the position after its closing one. */
  find(bytes: Uint8Array, objectBegin: number): number {
    let missing = this.#fields.length;
    const objectEnd = forEachPart(bytes, objectBegin, OPEN_BRACE, CLOSE_BRACE, (keyBegin) => {
      const keyEnd = endOfString(bytes, keyBegin);
      if (bytes[keyEnd] !== COLON) throw notPrinted();
      const end = endOfValue(bytes, keyEnd + 1);
      for (const { key, span } of this.#fields) {
        if (!equals(bytes, keyBegin, keyEnd, key)) continue;
        span.begin = keyEnd + 1;
        span.end = end;
        missing--;
      }
      return end;
    });
    if (missing !== 0) throw notPrinted();
    return objectEnd;
  }
}

/** Calls back with the begin of every item of an array; the callback returns where the item ends. */
export function forEachItem(bytes: Uint8Array, arrayBegin: number, visit: (begin: number) => number): void {
  forEachPart(bytes, arrayBegin, OPEN_BRACKET, CLOSE_BRACKET, visit);
}

function forEachPart(
  bytes: Uint8Array,
  begin: number,
  open: number,
  close: number,
  visit: (begin: number) => number,
): number {
  if (bytes[begin] !== open) throw notPrinted();
  let position = begin + 1;
  while (bytes[position] !== close) {
    const end = visit(position);
    if (bytes[end] !== COMMA && bytes[end] !== close) throw notPrinted();
    position = bytes[end] === COMMA ? end + 1 : end;
  }
  return position + 1;
}

function endOfValue(bytes: Uint8Array, begin: number): number {
  if (bytes[begin] === QUOTE) return endOfString(bytes, begin);
  let depth = 0;
  for (let position = begin; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) position = endOfString(bytes, position) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return position;
      depth--;
    } else if (byte === COMMA && depth === 0) return position;
  }
  throw notPrinted();
}

function endOfString(bytes: Uint8Array, begin: number): number {
  let quote = begin;
  do {
    quote = bytes.indexOf(QUOTE, quote + 1);
    if (quote < 0) throw notPrinted();
  } while (isEscaped(bytes, quote));
  return quote + 1;
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(bytes: Uint8Array, position: number): boolean {
  let begin = position;
  while (bytes[begin - 1] === BACKSLASH) begin--;
  return (position - begin) % 2 === 1;
}

function equals(bytes: Uint8Array, begin: number, end: number, expected: Uint8Array): boolean {
  if (end - begin !== expected.length) return false;
  for (let index = 0; index < expected.length; index++) {
    if (bytes[begin + index] !== expected[index]) return false;
  }
  return true;
}

function notPrinted(): Error {
  return new Error('A stored retailer is not the JSON text that was printed');
}
