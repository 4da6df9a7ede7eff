// Runs before the first test file of a process: applies shared settings, and stops started servers after the last test. In the
// runner's processes, Bun calls these hooks after each file.

import { afterAll, setDefaultTimeout } from 'bun:test';
import fc from 'fast-check';
import { removeTemporaryFolders } from './databases.ts';
import { leaveMemory } from './in-memory.ts';
import { stopPostgres } from './postgres-server.ts';

// One time limit for all tests, long enough for slow or busy machines. Bun applies it only to the first file of a run, so
// the scripts in package.json repeat it.
setDefaultTimeout(120_000);

// The same inputs on every run, so that failures on other machines can be reproduced. To try other inputs:
// TEST_SEED=$RANDOM TEST_RUNS=1000 npm test
fc.configureGlobal({
  seed: Number(process.env.TEST_SEED ?? 20_261_115),
  ...(process.env.TEST_RUNS && { numRuns: Number(process.env.TEST_RUNS) }),
});

afterAll(stopPostgres);
afterAll(removeTemporaryFolders);
afterAll(leaveMemory);

if (process.env.BUN_TEST_WORKER_ID !== undefined) {
  let startedAt = performance.now();
  afterAll(() => {
    // The runner reads this line to see that the file has finished. Bun mixes the output of files that run at the same time.
    process.stderr.write(`(done) ${Bun.main} [${Math.round(performance.now() - startedAt)}ms]\n`);
    startedAt = performance.now();
  });
}
