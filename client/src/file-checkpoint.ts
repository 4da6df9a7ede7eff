// A follower's place in a file of one line, as `offerbook follow --checkpoint` keeps it. For runtimes with files only,
// so it has an entry of its own: @offerbook/client/node.

import { open, readFile, readlink, realpath, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CheckpointError } from './errors.ts';
import type { CheckpointStore } from './follow.ts';
import { parsePlace } from './place.ts';

/**
 * Writes beside the file and then moves it into its place. Even after a power cut a reader finds the old place or the
 * new one, and never half of one. Links that lead to the file stay. One follower to a file.
 */
export function fileCheckpoint(path: string): CheckpointStore {
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch((error: { code?: string }) => {
        if (error.code === 'ENOENT') return undefined;
        throw failure('read', path, error);
      });
      if (text === undefined) return undefined;
      try {
        parsePlace(text);
      } catch (error) {
        // An empty file is not a fresh start: everything would quietly come again.
        const reason = (error as Error).message;
        throw new CheckpointError(
          `${path} does not hold a checkpoint. ${reason} Remove the file to start from the beginning.`,
          { cause: error },
        );
      }
      return text.trim();
    },

    async save(checkpoint) {
      try {
        const target = await followLinks(path);
        const next = `${target}.next`;
        const file = await open(next, 'w');
        try {
          await file.writeFile(`${checkpoint}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(next, target);
      } catch (error) {
        throw failure('write', path, error);
      }
    },
  };
}

/** The file that a path names, which need not be there yet. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    const target = await readlink(path).catch(() => undefined);
    return target === undefined ? path : followLinks(resolve(await realpath(dirname(path)), target));
  }
}

function failure(action: 'read' | 'write', path: string, cause: unknown): CheckpointError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CheckpointError(`cannot ${action} the checkpoint file ${path}: ${reason}`, { cause });
}
