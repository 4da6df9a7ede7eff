// Runs with every test run: when the last test is done, fails the run if any token issued in it was leaked.

import { afterAll } from 'bun:test';
import { leakWatch } from './leak-watch.ts';

afterAll(() => {
  const leaks = leakWatch.findLeaks();
  if (leaks.length > 0) throw new Error(`a token was leaked:\n${leaks.join('\n')}`);
});
