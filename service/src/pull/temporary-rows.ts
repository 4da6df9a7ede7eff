// Keeps rows in an unnamed temporary file, so that any number of them needs little memory. The file disappears when the process
// ends.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowSpool } from '@offerbook/feeds/convert-run.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export class TemporaryRows implements RowSpool, Disposable {
  readonly #file: number;
  readonly #dropped = new Set<number>();
  #pending: string[] = [];
  #appended = 0;

  constructor(parent = tmpdir()) {
    const folder = mkdtempSync(join(parent, '.offerbook-rows-'));
    this.#file = openSync(join(folder, 'rows'), 'wx+', 0o600);
    // This process can still read the unlinked file; no other process can open it.
    rmSync(folder, { recursive: true });
  }

  get count(): number {
    return this.#appended - this.#dropped.size;
  }

  append(row: string): number {
    this.#pending.push(row);
    return this.#appended++;
  }

  drop(number: number): void {
    this.#dropped.add(number);
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(`${this.#pending.join('\n')}\n`);
    this.#pending = [];
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }

  /** All flushed rows except the dropped ones, each followed by a newline. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const keptLines = lineFilter(this.#dropped);
    let position = 0;
    for (let bytesRead = -1; bytesRead !== 0; position += bytesRead) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      bytesRead = readSync(this.#file, buffer, 0, CHUNK_BYTES, position);
      yield keptLines(buffer.subarray(0, bytesRead));
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Returns a function that removes the lines with these numbers from a stream of chunks. */
function lineFilter(dropped: ReadonlySet<number>): (chunk: Uint8Array) => Uint8Array {
  let line = 0;
  return (chunk) => {
    if (dropped.size === 0) return chunk;
    const kept: Uint8Array[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!dropped.has(line)) kept.push(chunk.subarray(start, end + 1));
      line++;
      start = end + 1;
    }
    // The rest of the line is in the next chunk.
    if (!dropped.has(line)) kept.push(chunk.subarray(start));
    return Buffer.concat(kept);
  };
}
