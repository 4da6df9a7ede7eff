// Follows symbolic links to a file, as SQLite does: it keeps its logs beside the file itself, whatever name it was given.

import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Where a file is, or will be once it is made. A path without links stays as it is given, and so does one that cannot be
 * followed: opening it tells why.
 */
export function realPath(path: string): string {
  try {
    const real = follow(path);
    return real === resolve(path) ? path : real;
  } catch {
    return path;
  }
}

function follow(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
  }
  const folder = realpathSync(dirname(path));
  const target = findTarget(path);
  return target === undefined ? join(folder, basename(path)) : follow(resolve(folder, target));
}

/** Where a link leads; undefined when there is none. */
function findTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
