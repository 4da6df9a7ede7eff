// Where converted rows lie until all of them are known to be good: a file without a name, which is gone with the process.
// Then they are copied to stdout, or to a file that appears whole or not at all.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BadInput } from '../../domain/failures.ts';
import type { RowSpool } from '../../feeds/convert-report.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export class RowFile implements RowSpool, Disposable {
  readonly #file: number;
  readonly #dropped = new Set<number>();
  #pending: string[] = [];
  #appended = 0;

  /** Beside the file that the rows are for, since a folder for temporary files may be small. */
  constructor(outPath: string | undefined) {
    const parent = outPath === undefined ? tmpdir() : dirname(outPath);
    try {
      const folder = mkdtempSync(join(parent, '.offerbook-convert-'));
      this.#file = openSync(join(folder, 'rows'), 'wx+', 0o600);
      rmSync(folder, { recursive: true });
    } catch (error) {
      throw new BadInput(`nothing can be written to ${parent}`, { cause: error });
    }
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

  /** Prints the rows that were not dropped. */
  async print(outPath: string | undefined): Promise<void> {
    if (outPath === undefined) {
      await this.#copy(Bun.stdout.writer());
      return;
    }
    const partial = `${outPath}.partial-${process.pid}`;
    try {
      await this.#copy(Bun.file(partial).writer());
      await rename(partial, outPath);
    } catch (error) {
      rmSync(partial, { force: true });
      throw new BadInput(`${outPath} cannot be written`, { cause: error });
    }
  }

  async #copy(sink: Bun.FileSink): Promise<void> {
    const lines = new LineFilter(this.#dropped);
    for (let position = 0; ; ) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const bytesRead = readSync(this.#file, buffer, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      // Awaited, because a write fails later than it returns when whoever reads has gone.
      for (const piece of lines.pass(buffer.subarray(0, bytesRead))) await sink.write(piece);
      await sink.flush();
    }
    await sink.end();
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Lets lines through, except for those with certain numbers. */
class LineFilter {
  readonly #dropped: ReadonlySet<number>;
  #line = 0;

  constructor(dropped: ReadonlySet<number>) {
    this.#dropped = dropped;
  }

  *pass(chunk: Uint8Array): Generator<Uint8Array> {
    if (this.#dropped.size === 0) {
      yield chunk;
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#dropped.has(this.#line)) yield chunk.subarray(start, end + 1);
      this.#line++;
      start = end + 1;
    }
    if (start < chunk.length && !this.#dropped.has(this.#line)) yield chunk.subarray(start);
  }
}
