// Resolves symbolic links to a database file as SQLite does: SQLite keeps its logs beside the real file, not beside the link.

import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
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
  // Throws for links that form a loop.
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path);
  const folder = realpathSync(dirname(path));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? follow(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
}
