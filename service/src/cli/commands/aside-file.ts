// The file for rows that an import puts aside. It grows: rows are added behind those of earlier imports, each only once,
// and are on the disk before the import is kept. A crash may leave rows there that were not imported, and loses none.

import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  type Stats,
  statSync,
} from 'node:fs';
import { createInterface } from 'node:readline';
import { BadInput } from '../../domain/failures.ts';
import type { Aside } from '../../importer/attribution.ts';
import { RowFile } from './row-file.ts';

const STDIN = 0;

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

  async #readDigests(): Promise<Set<string>> {
    const digests = new Set<string>();
    if (!existsSync(this.#path)) return digests;
    for await (const line of createInterface({ input: createReadStream(this.#path) }))
      digests.add(digestOf(line));
    return digests;
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
