// Memory that a process shares with those it starts. It is a file without a name: whoever has it open can map
// it, and it is gone with the last of them, however they end.

import { closeSync, ftruncateSync, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The number under which a started process finds the file: it comes right after stdin, stdout and stderr. */
const INHERITED_FILE = 3;

/** A folder in memory first; it is often writable where nothing else is. */
const FOLDERS = ['/dev/shm', tmpdir()];

export interface SharedMemory {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly file: number;
}

/** Undefined where there is no place for it. */
export function createSharedMemory(size: number): SharedMemory | undefined {
  for (const folder of FOLDERS) {
    try {
      const path = join(folder, `offerbook-${Bun.randomUUIDv7()}`);
      const file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      try {
        ftruncateSync(file, size);
        return { bytes: mapFile(file), file };
      } catch {
        closeSync(file);
      }
    } catch {
      // Not there, or not ours to write: the next one.
    }
  }
  return undefined;
}

/** The memory that the process has inherited which started this one. */
export function findSharedMemory(size: number): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = mapFile(INHERITED_FILE);
    return bytes.byteLength === size ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function mapFile(file: number): Uint8Array<ArrayBuffer> {
  return Bun.mmap(`/dev/fd/${file}`, { shared: true }) as Uint8Array<ArrayBuffer>;
}
