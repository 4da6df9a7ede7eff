// Entry point @offerbook/client/node, which needs a file system: stores a follower's checkpoint in a one-line file, as `offerbook
// follow --checkpoint` does.

import { open, readFile, readlink, realpath, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CheckpointError } from './errors.ts';
import type { CheckpointStore } from './follow.ts';
import { parsePosition } from './position.ts';

/**
 * Writes a new file, syncs it and renames it over the old one, so a crash or power cut leaves either the old checkpoint
 * or the new one. Symbolic links are followed and kept. Use one file per follower.
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
        parsePosition(text);
      } catch (error) {
        // An empty file is an error: starting from the beginning would silently repeat every change.
        const reason = (error as Error).message;
        throw new CheckpointError(
          `${path} does not contain a checkpoint. ${reason} Remove the file to start from the beginning.`,
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

/** Resolves symbolic links. Unlike realpath, accepts a file that does not exist yet. */
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
