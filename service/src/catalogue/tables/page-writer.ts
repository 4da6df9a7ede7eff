// Assembles a page by copying the catalogue's JSON, which is already UTF-8. Joining and encoding strings was measurably
// slower.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ENVELOPE_START, envelopeEnd, PAGE_BYTES_MAX } from '../../domain/page.ts';
import type { UuidTable } from './uuid-table.ts';

const COMMA = 0x2c;
const INITIAL_BYTES = 256 * 1024;
/** Maximum size of the buffer that is kept for the next page. Larger buffers are released. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** A page as UTF-8 JSON: a list envelope, or one item. */
export interface EncodedPage {
  /** Valid until the next page is written, so do not await before they are sent or copied. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cursor: Uuid | undefined;
  /** When this page next changes because a deal starts or ends; infinity if it never does. */
  readonly changesAtMs: number;
}

/** The items of a page, by number. */
interface PageItems {
  /** At most one item more than the limit; the extra item's id becomes the cursor. */
  readonly numbers: readonly number[];
  readonly limit: number;
  readonly ids: UuidTable;
  readonly writeItem: (number: number, writer: PageWriter) => void;
}

export class PageWriter {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #used = 0;

  copy(bytes: Buffer, begin: number, end: number): void {
    this.#reserve(end - begin);
    this.#used += bytes.copy(this.#buffer, this.#used, begin, end);
  }

  /** Appends an ASCII string. */
  add(text: string): void {
    this.#reserve(text.length);
    this.#used += this.#buffer.write(text, this.#used, 'latin1');
  }

  addByte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#used++] = byte;
  }

  /** Bytes written since begin(). */
  get length(): number {
    return this.#used;
  }

  /** Truncates the page to this many bytes. */
  cutTo(length: number): void {
    this.#used = length;
  }

  /** Starts a new page in the same buffer. */
  begin(): void {
    this.#used = 0;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }

  /** The bytes written since begin(). Not a copy, because copying is slow and most pages are sent once. */
  get written(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer.buffer, 0, this.#used);
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#used + bytes));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}

/** All requests can share one writer, because writing a page is synchronous. */
const writer = new PageWriter();

/**
 * Writes a page. The page ends before an item that would exceed `bytesMax`, but always contains at least one item. `next` is the
 * number of the item whose id is the cursor.
 */
export function writePage({ numbers, limit, ids, writeItem }: PageItems, bytesMax: number = PAGE_BYTES_MAX) {
  writer.begin();
  writer.add(ENVELOPE_START);
  const lengthMax = writer.length + bytesMax;
  const countMax = Math.min(limit, numbers.length);
  let count = 0;
  for (; count < countMax; count++) {
    const { length } = writer;
    if (count > 0) writer.addByte(COMMA);
    writeItem(numbers[count] as number, writer);
    if (count === 0 || writer.length <= lengthMax) continue;
    writer.cutTo(length);
    break;
  }
  const next = numbers[count];
  const cursor = next === undefined ? undefined : ids.at(next);
  writer.add(envelopeEnd(cursor));
  return { bytes: writer.written, cursor, next };
}

/** Writes one item without an envelope. */
export function writeItemAlone(write: (writer: PageWriter) => void, changesAtMs: number): EncodedPage {
  writer.begin();
  write(writer);
  return { bytes: writer.written, cursor: undefined, changesAtMs };
}
