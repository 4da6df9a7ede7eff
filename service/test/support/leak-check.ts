// Runs with every test run: when the last test is done, fails the run if any token issued in it was leaked.

import { afterAll } from 'bun:test';
import { leakWatch } from './leak-watch.ts';
import { stopPostgres } from './postgres-server.ts';

afterAll(async () => {
  const leaks = leakWatch.findLeaks();
  if (leaks.length === 0) return;
  // Bun skips the hooks after one that throws, so that they would leave the server running.
  await stopPostgres();
  throw new Error(`a token was leaked:\n${leaks.join('\n')}`);
});
