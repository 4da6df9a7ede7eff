// The number of files this process has open, and its limit. Both are undefined on systems other than Linux.

import { readdirSync, readFileSync } from 'node:fs';

export function countOpenFiles(): number | undefined {
  try {
    // Excludes the descriptor for the folder itself.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** Also undefined if there is no limit. */
export function findOpenFilesMax(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
