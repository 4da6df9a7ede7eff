// Buffers rows in a temporary file until all of them are known to be valid. Then copies them to stdout, to a pipe or device,
// to a file that is replaced atomically, or to the end of a file.

import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';
import { TemporaryRows } from '../../../pull/temporary-rows.ts';
import { sync } from '../../../storage/backup/synced-files.ts';
import { STDOUT, writeAll, writing } from '../../output.ts';

const NEWLINE = 0x0a;

export class RowFile extends TemporaryRows {
  readonly #out: OutFile | undefined;

  /** Creates the temporary file next to the output file, because /tmp may be small. */
  constructor(outPath: string | undefined) {
    let parent = outPath === undefined ? tmpdir() : dirname(outPath);
    try {
      const out = outPath === undefined ? undefined : findOut(outPath);
      if (out !== undefined) parent = isStream(out) ? tmpdir() : dirname(out.path);
      super(parent);
      this.#out = out;
    } catch (error) {
      if (error instanceof BadInput) throw error;
      throw new BadInput(`cannot write to ${parent}`, { cause: error });
    }
  }

  override flush(): Promise<void> {
    return writing(() => super.flush());
  }

  /** Writes all rows except the dropped ones to the output. */
  print(): Promise<void> {
    return writing(async () => {
      if (this.#out === undefined) await this.#copyTo(STDOUT);
      else if (isStream(this.#out)) await this.#writeTo(this.#out.path);
      else await this.#replace(this.#out);
    });
  }

  async #writeTo(path: string): Promise<void> {
    const stream = openSync(path, 'w');
    await this.#copyTo(stream).finally(() => closeSync(stream));
  }

  async #replace({ path, before }: OutFile): Promise<void> {
    const partialPath = `${path}.partial-${process.pid}`;
    try {
      const partial = openSync(partialPath, 'w', before === undefined ? undefined : 0o600);
      try {
        if (before !== undefined) copyOwner(partial, before);
        await this.#copyTo(partial);
      } finally {
        closeSync(partial);
      }
      renameSync(partialPath, path);
    } catch (error) {
      rmSync(partialPath, { force: true });
      throw error;
    }
  }

  /**
   * Appends all rows except the dropped ones to a file and syncs the file. If that fails, the file stays unchanged. A new file
   * is readable only by its owner, because rows identify users.
   */
  appendTo(path: string): Promise<void> {
    return writing(async () => {
      const isNew = !existsSync(path);
      const file = openSync(path, 'a+', 0o600);
      const { size } = fstatSync(file);
      try {
        if (endsInLine(file, size)) await writeAll(file, Uint8Array.of(NEWLINE));
        await this.#copyTo(file);
        fsyncSync(file);
      } catch (error) {
        if (isNew) rmSync(path);
        else ftruncateSync(file, size);
        throw error;
      } finally {
        closeSync(file);
      }
      if (isNew) sync(dirname(path));
    });
  }

  async #copyTo(target: number): Promise<void> {
    for await (const chunk of this.chunks()) await writeAll(target, chunk);
  }
}

type OutFile = ReturnType<typeof findOut>;

/**
 * Resolves symbolic links, so that a link is not replaced with a file. `before` is the existing file, pipe or device; undefined if
 * there is none.
 */
function findOut(path: string) {
  const before = statSync(path, { throwIfNoEntry: false });
  if (before?.isDirectory()) throw new BadInput(`${path} is a directory, not a file`);
  // A shell's pipe, such as /dev/fd/63, has no real path.
  if (before !== undefined) return { path: before.isFile() ? realpathSync(path) : path, before };
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new BadInput(`${path} is a link to a file that does not exist`);
  return { path, before };
}

/** Pipes and devices are written to directly: their readers would not see a file that replaces them. */
function isStream({ before }: OutFile): boolean {
  return before !== undefined && !before.isFile();
}

/** Copies the owner and permissions of the replaced file, so that no other user can read the new one. */
function copyOwner(file: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(file, uid, gid);
    fchmodSync(file, mode & 0o777);
  } catch {
    // Only root can change the owner, and other users can only set groups that they belong to. The new file's group gets no access.
    fchmodSync(file, mode & 0o707);
  }
}

/** True if the last line is incomplete, for example after a power cut. */
function endsInLine(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}
