// A follower's place in a file of one line, as `offerbook follow --checkpoint` keeps it. For runtimes with files only,
// so it has an entry of its own: @offerbook/client/node.

import { open, readFile, rename } from 'node:fs/promises';
import { CheckpointError } from './errors.ts';
import type { CheckpointStore } from './follow.ts';
import { parsePlace } from './place.ts';

/**
 * Writes beside the file and then moves it into its place. Even after a power cut a reader finds the old place or the
 * new one, and never half of one. One follower to a file.
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
      const next = `${path}.next`;
      try {
        const file = await open(next, 'w');
        try {
          await file.writeFile(`${checkpoint}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(next, path);
      } catch (error) {
        throw failure('write', path, error);
      }
    },
  };
}

function failure(action: 'read' | 'write', path: string, cause: unknown): CheckpointError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CheckpointError(`cannot ${action} the checkpoint file ${path}: ${reason}`, { cause });
}
