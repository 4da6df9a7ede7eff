// Open files of this process, and their limit. Only Linux shows them; elsewhere both are undefined.

import { readdirSync, readFileSync } from 'node:fs';

export function countOpenFiles(): number | undefined {
  try {
    // One of them is the folder itself.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** Undefined also when there is no limit. */
export function findOpenFilesMax(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
