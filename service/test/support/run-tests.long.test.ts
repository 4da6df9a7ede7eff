// The test runner itself: results that must not get lost.

import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';

const RUNNER = join(import.meta.dir, '../../../scripts/run-tests.ts');

/** Runs the unit tier in a project with these test files. */
async function runProject(files: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'wire/test'), { recursive: true });
  writeFileSync(join(cwd, 'bunfig.toml'), `[test]\npreload = ["${join(import.meta.dir, 'preload.ts')}"]\n`);
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(cwd, 'wire/test', name), `import { test, expect } from 'bun:test';\n${text}\n`);
  const { BUN_TEST_WORKER_ID, ...env } = process.env;
  const child = Bun.spawn([process.execPath, RUNNER, 'unit'], {
    cwd,
    env: { ...env, TEST_HANG_SECONDS: '10' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  const lines = stdout.split('\n').map((line) => line.replace(/[\d.]+ ?m?s\b/, 'N s'));
  return { code, lines };
}

test('a run that passes prints a line per file and the count last', async () => {
  const { code, lines } = await runProject({
    'a.test.ts': "test('one', () => {});",
    'b.test.ts': "test('two', () => console.log('noise'));\ntest.skip('three', () => {});",
    'c.long.test.ts': "test('four', () => expect(1).toBe(2));",
  });
  expect(lines.toSorted()).toEqual([
    '',
    '',
    '2 passed, 0 failed, 1 skipped',
    'wire/test/a.test.ts: 1 passed, N s',
    'wire/test/b.test.ts: 1 passed, 1 skipped, N s',
  ]);
  expect(lines.at(-2)).toBe('2 passed, 0 failed, 1 skipped');
  expect(code).toBe(0);
});

test.each([
  ['a failed test', "test('bad', () => { console.log('context'); expect(1).toBe(2); });", '(fail) bad [N s]'],
  [
    'an error outside of tests',
    "console.log('context'); throw new Error('no');",
    '# Unhandled error between tests',
  ],
  ['a process that exits', "test('bad', () => { console.log('context'); process.exit(0); });", '✗ '],
  [
    'a process that hangs',
    "test('bad', () => { console.log('context'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });",
    '✗ ',
  ],
])('%s fails the run and is reported with its output, after all other files', async (_what, text, report) => {
  const { code, lines } = await runProject({ 'a.test.ts': text, 'b.test.ts': "test('good', () => {});" });
  expect(code).toBe(1);
  expect(lines.at(-2)).toMatch(/^1 passed, 1 failed, 0 skipped$/);
  expect(lines.at(-3)).toStartWith(`wire/test/a.test.ts: ${report}`);
  expect(lines.slice(lines.indexOf('wire/test/a.test.ts:'))).toContain('context');
  expect(lines.indexOf('wire/test/a.test.ts:')).toBeGreaterThan(
    lines.findIndex((line) => line.startsWith('wire/test/b.test.ts')),
  );
});

test('a run that uses PostgreSQL keeps its exit code', () => {
  const program = `import '${join(import.meta.dir, 'postgres-server.ts')}'; process.exitCode = 3;`;
  expect(Bun.spawnSync([process.execPath, '-e', program]).exitCode).toBe(3);
});
