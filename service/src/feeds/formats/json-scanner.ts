// Finds where a JSON value ends while the bytes go by, across chunks. Only marks and quotes are looked at: whether the
// value is JSON is left to the parser.

import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  endsWord,
  NEWLINE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../importer/formats/json-scan.ts';

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
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --this.#depth === 0) return at + 1;
      if (byte === NEWLINE) this.line++;
    }
    return undefined;
  }
}
