// Keeps the JSON texts of a snapshot as UTF-8 in a few large buffers: one byte for an ASCII character
// whatever else the text contains, and nothing for the garbage collector to walk through.

const CHUNK_BYTES = 1 << 20;
const UTF8_BYTES_MAX = 3;

export interface TextPlace {
  readonly chunk: number;
  readonly begin: number;
  readonly end: number;
}

export class TextPool {
  readonly #chunks: Buffer[] = [];
  #used = 0;

  add(text: string): TextPlace {
    this.#makeRoomFor(text.length * UTF8_BYTES_MAX);
    const chunk = this.#chunks.length - 1;
    const begin = this.#used;
    this.#used += this.chunk(chunk).write(text, begin);
    return { chunk, begin, end: this.#used };
  }

  /** The bytes that texts lie in; not to be changed. */
  chunk(number: number): Buffer {
    return this.#chunks[number] as Buffer;
  }

  read(chunk: number, begin: number, end: number): string {
    return this.chunk(chunk).toString('utf8', begin, end);
  }

  #makeRoomFor(bytes: number): void {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length - this.#used >= bytes) return;
    this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes)));
    this.#used = 0;
  }
}
