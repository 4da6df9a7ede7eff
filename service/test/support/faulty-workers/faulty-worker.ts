// A regular worker that fails on request: the name of a file selects the fault and the worker.

import '../../../src/cli/node/workers/worker-thread.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ToWorker } from '../../../src/cli/node/workers/worker-thread.ts';

declare const self: Worker;

const FAULTS = {
  crash(): never {
    throw new Error('a test wants it so');
  },
  /** Never returns, but can be interrupted. */
  loop(): never {
    for (;;);
  },
  /** Returns after 30 seconds and cannot be interrupted. */
  block(): void {
    Bun.sleepSync(30_000);
  },
};

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type !== 'start') return;
  const fileOf = (fault: string) => join(process.env.FAULTS_FOLDER ?? '', `${fault}-${data.setup.number}`);
  // Fails as long as the file exists.
  if (existsSync(fileOf('stillborn'))) FAULTS.crash();
  setInterval(() => {
    for (const [fault, happen] of Object.entries(FAULTS)) {
      if (!existsSync(fileOf(fault))) continue;
      // Fail only once.
      rmSync(fileOf(fault));
      happen();
    }
  }, 10);
});
