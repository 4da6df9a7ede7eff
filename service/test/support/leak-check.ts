// Fails a test run after its last test, or after the last test of a file, if any issued token was leaked.

import { afterAll } from 'bun:test';
import { leakWatch } from './leak-watch.ts';
import { stopPostgres } from './postgres-server.ts';

afterAll(async () => {
  const leaks = leakWatch.findLeaks();
  if (leaks.length === 0) return;
  // Stop the server before throwing: Bun skips the hooks after one that throws.
  await stopPostgres();
  throw new Error(`a token was leaked:\n${leaks.join('\n')}`);
});
