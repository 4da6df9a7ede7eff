// A follower's place, kept in a file of one line. Written beside the file and then moved over it, so that
// whoever reads it, even after a power cut, finds the old place or the new one, and never half of one.

import { open, readFile, rename } from 'node:fs/promises';
import { BadInput } from '../../domain/failures.ts';
import { parseInstant } from '../../domain/timestamp.ts';

export interface CheckpointFile {
  /** Undefined when there is no file yet. */
  read(): Promise<string | undefined>;
  write(checkpoint: string): Promise<void>;
}

export function checkpointFile(path: string): CheckpointFile {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw new BadInput(`cannot read the checkpoint file ${path}: ${error.message}`, { cause: error });
      });
      const checkpoint = text?.trim();
      // An empty file is not a fresh start: that would quietly print everything again.
      if (checkpoint !== undefined && parseInstant(checkpoint) === undefined) {
        throw new BadInput(`${path} does not hold a checkpoint; remove it to start from the beginning`);
      }
      return checkpoint;
    },

    async write(checkpoint) {
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
        const reason = error instanceof Error ? error.message : String(error);
        throw new BadInput(`cannot write the checkpoint file ${path}: ${reason}`, { cause: error });
      }
    },
  };
}
