// Runs before every test file: sets what all tests share, and stops what they have started when the last one is done.

import { afterAll, setDefaultTimeout } from 'bun:test';
import fc from 'fast-check';
import { removeTemporaryFolders } from './databases.ts';
import { leaveMemory } from './in-memory.ts';
import { stopPostgres } from './postgres-server.ts';

// One limit for all tests: machines may be slow or busy, and a test that hangs is still found. Bun keeps it for the first
// file of a run only, so the scripts in package.json say it again.
setDefaultTimeout(120_000);

// The same inputs on every run, so that a run on another machine can be repeated here. To look further:
// TEST_SEED=$RANDOM TEST_RUNS=1000 npm run test:all
fc.configureGlobal({
  seed: Number(process.env.TEST_SEED ?? 20_261_115),
  ...(process.env.TEST_RUNS && { numRuns: Number(process.env.TEST_RUNS) }),
});

afterAll(stopPostgres);
afterAll(removeTemporaryFolders);
afterAll(leaveMemory);
