// The file for rows that an import sets aside. Each import appends its rows to those of earlier imports, each row once,
// and syncs them before it commits. A crash may leave rows of an import that was rolled back, and loses none.

import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  type Stats,
  statSync,
} from 'node:fs';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { Aside } from '../../importer/attribution.ts';
import { RowFile } from './row-file.ts';

const STDIN = 0;
const NEWLINE = 0x0a;

export class AsideFile implements Aside, Disposable {
  readonly #path: string;
  /** The rows of this import; an import that is refused adds none. */
  readonly #rows: RowFile;
  #known: Promise<Set<string>> | undefined;

  /** Refuses what cannot be added to, and the file that is imported (`-` is stdin). */
  constructor(path: string, importedPath: string) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file !== undefined) {
      if (!file.isFile()) throw new BadInput(`--unattributed must name a file, and ${path} is none`);
      if (isSameFile(file, importedPath))
        throw new BadInput('--unattributed must not name the file that is imported');
      try {
        accessSync(path, constants.R_OK | constants.W_OK);
      } catch (error) {
        throw new BadInput(`${path} cannot be read and written`, { cause: error });
      }
    }
    this.#path = path;
    this.#rows = new RowFile(path);
  }

  async put(rows: readonly string[]): Promise<void> {
    this.#known ??= this.#readDigests();
    const known = await this.#known;
    for (const row of rows) {
      const digest = digestOf(row);
      if (known.has(digest)) continue;
      known.add(digest);
      this.#rows.append(row);
    }
    await this.#rows.flush();
  }

  async keep(): Promise<void> {
    if (this.#rows.count > 0) await this.#rows.appendTo(this.#path);
  }

  /** Not with node:readline, which also ends a line at U+2028 and U+2029. A row may contain either. */
  async #readDigests(): Promise<Set<string>> {
    const digests = new Set<string>();
    if (!existsSync(this.#path)) return digests;
    let line = new Bun.CryptoHasher('sha256');
    for await (const chunk of createReadStream(this.#path) as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        digests.add(line.update(chunk.subarray(start, end)).digest('base64'));
        line = new Bun.CryptoHasher('sha256');
        start = end + 1;
      }
      line.update(chunk.subarray(start));
    }
    return digests.add(line.digest('base64'));
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]();
  }
}

function isSameFile({ dev, ino }: Stats, otherPath: string): boolean {
  const other = otherPath === '-' ? fstatSync(STDIN) : statSync(otherPath, { throwIfNoEntry: false });
  return other?.dev === dev && other.ino === ino;
}

/** Shorter than most rows, of which there may be many. */
function digestOf(row: string): string {
  return Bun.SHA256.hash(row, 'base64');
}
