// A worker like any other, until something is to happen to it: the name of a file says what, and to which worker.

import '../../../src/cli/node/workers/worker-thread.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ToWorker } from '../../../src/cli/node/workers/worker-messages.ts';

declare const self: Worker;

const FAULTS = {
  crash(): never {
    throw new Error('a test wants it so');
  },
  /** Never comes back, but can be interrupted. */
  loop(): never {
    for (;;);
  },
  /** Comes back after half a minute, and cannot be interrupted. */
  block(): void {
    Bun.sleepSync(30_000);
  },
};

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type !== 'start') return;
  const fileOf = (fault: string) => join(process.env.FAULTS_FOLDER ?? '', `${fault}-${data.setup.number}`);
  // As long as the file is there.
  if (existsSync(fileOf('stillborn'))) FAULTS.crash();
  setInterval(() => {
    for (const [fault, happen] of Object.entries(FAULTS)) {
      if (!existsSync(fileOf(fault))) continue;
      // Once.
      rmSync(fileOf(fault));
      happen();
    }
  }, 10);
});
