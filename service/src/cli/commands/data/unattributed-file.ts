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
import { RowFile } from './row-file.ts';

const STDIN = 0;
const NEWLINE = 0x0a;

/**
 * Returns undefined without the option. Throws BadInput if the path is not a writable file, or if it is the imported file (`-` is
 * stdin).
 */
export function openUnattributedFile(path: string | undefined, importedPath: string) {
  if (path === undefined) return undefined;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file !== undefined) {
    if (!file.isFile()) throw new BadInput(`--unattributed ${path} is not a file`);
    if (isSameFile(file, importedPath)) throw new BadInput('--unattributed must not be the imported file');
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw new BadInput(`this user needs read and write access to --unattributed ${path}`, { cause: error });
    }
  }
  /** New rows from this import. `keep` appends them to the file. */
  const added = new RowFile(path);
  let known: Promise<Set<string>> | undefined;
  return {
    async put(rows: readonly string[]): Promise<void> {
      known ??= readDigests(path);
      const digests = await known;
      for (const row of rows) {
        const digest = digestOf(row);
        if (digests.has(digest)) continue;
        digests.add(digest);
        added.append(row);
      }
      await added.flush();
    },
    async keep(): Promise<void> {
      if (added.count > 0) await added.appendTo(path);
    },
    [Symbol.dispose]: () => added[Symbol.dispose](),
  };
}

/** Does not use node:readline, which also splits at U+2028 and U+2029; a row may contain these characters. */
async function readDigests(path: string): Promise<Set<string>> {
  const digests = new Set<string>();
  if (!existsSync(path)) return digests;
  let line = new Bun.CryptoHasher('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
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

function isSameFile({ dev, ino }: Stats, otherPath: string): boolean {
  const other = otherPath === '-' ? fstatSync(STDIN) : statSync(otherPath, { throwIfNoEntry: false });
  return other?.dev === dev && other.ino === ino;
}

/** Rows are compared by digest, because digests take less memory than rows. */
function digestOf(row: string): string {
  return Bun.SHA256.hash(row, 'base64');
}
