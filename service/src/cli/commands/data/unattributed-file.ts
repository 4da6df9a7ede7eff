// The --unattributed file: sales whose click is unknown. Before it commits, each import appends the rows that the file does not
// contain yet, and syncs the file. After a crash, the file may contain rows from an import that was rolled back, but no row is
// missing.

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
import type { UnattributedRows } from '../../../importer/attribution.ts';
import { RowFile } from './row-file.ts';

const STDIN = 0;
const NEWLINE = 0x0a;

export class UnattributedFile implements UnattributedRows, Disposable {
  readonly #path: string;
  /** New rows from this import. `keep` appends them to the file. */
  readonly #rows: RowFile;
  #known: Promise<Set<string>> | undefined;

  /** Throws BadInput if the path is not a writable file, or if it is the imported file (`-` is stdin). */
  constructor(path: string, importedPath: string) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file !== undefined) {
      if (!file.isFile()) throw new BadInput(`--unattributed ${path} is not a file`);
      if (isSameFile(file, importedPath)) throw new BadInput('--unattributed must not be the imported file');
      try {
        accessSync(path, constants.R_OK | constants.W_OK);
      } catch (error) {
        throw new BadInput(`this user needs read and write access to --unattributed ${path}`, {
          cause: error,
        });
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

  /** Does not use node:readline, which also splits at U+2028 and U+2029; a row may contain these characters. */
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

/** Rows are compared by digest, because digests take less memory than rows. */
function digestOf(row: string): string {
  return Bun.SHA256.hash(row, 'base64');
}
