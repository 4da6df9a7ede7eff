// Resolves symbolic links to a database file as SQLite does: SQLite keeps its logs beside the real file, not beside the link.

import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Returns the real path of a file that might not exist yet. Returns `path` unchanged if it has no links or cannot be resolved;
 * opening the file then fails with the reason.
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

/** Target of a symbolic link; undefined if `path` is not a link. */
function findTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
