// A test run that leaks a token, started by the test that expects it to fail. Not part of the suite.

import { test } from 'bun:test';
import { newTokenText } from '../../src/domain/access-token.ts';
import { leakWatch } from './leak-watch.ts';

test('leaks', () => {
  const token = newTokenText('private');
  leakWatch.noteOutput('log', `somebody wrote Bearer ${token.slice(0, 25)}`);
  leakWatch.noteToken(token);
});
