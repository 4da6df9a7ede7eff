// Runs before the first test file of a process: applies shared settings, and stops started servers after the last test. In the
// runner's processes, Bun calls these hooks after each file.

import { afterAll, setDefaultTimeout } from 'bun:test';
import { relative } from 'node:path';
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
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    // The runner also reads this line, to notice tests that hang.
    process.stderr.write(`${relative(process.cwd(), Bun.main)}: ${seconds} s\n`);
    startedAt = performance.now();
  });
}
