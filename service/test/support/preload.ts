// Runs before the first test file: makes sure that what a test starts is stopped when the last one is done.

import { afterAll, beforeAll } from 'bun:test';
import fc from 'fast-check';
import { removeTemporaryFolders } from './databases.ts';
import { sharedPostgres, stopPostgres } from './postgres-server.ts';

// The same inputs on every run, so that a run on another machine can be repeated here. To look further:
// OFFERBOOK_TEST_SEED=$RANDOM npm run test:all
fc.configureGlobal({ seed: Number(process.env.OFFERBOOK_TEST_SEED ?? 20_261_115) });

// Started outside of any test: when a test runs out of time, the processes that it started are ended.
beforeAll(async () => void (await sharedPostgres()));
afterAll(stopPostgres);
afterAll(removeTemporaryFolders);
