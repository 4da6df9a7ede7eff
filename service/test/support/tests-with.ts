// Test functions for test files and groups that need a program. Without the program their tests are skipped, and their
// beforeAll and afterAll do nothing: Bun would run those even if every test is skipped.

import { afterAll, beforeAll, describe, test } from 'bun:test';
import { lacks, type ProgramName } from './programs.ts';

export function testsWith(...names: readonly ProgramName[]) {
  if (!lacks(...names)) return { afterAll, beforeAll, describe, test };
  const ignored: typeof beforeAll = () => {};
  return { afterAll: ignored, beforeAll: ignored, describe: describe.skipIf(true), test: test.skipIf(true) };
}
