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
  const [text, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return { code, lines: text.split('\n').map((line) => line.replace(/[\d.]+ ?m?s\b/, 'N s')) };
}

test('a run that passes prints a line per file, the output of the tests, and the counts', async () => {
  const { code, lines } = await runProject({
    'a.test.ts': "test('one', () => {});",
    'b.test.ts': "test('two', () => console.log('noise'));\ntest.skip('three', () => {});",
    'c.long.test.ts': "test('four', () => expect(1).toBe(2));",
  });
  for (const line of ['a.test.ts: N s', 'b.test.ts: N s']) expect(lines).toContain(`wire/test/${line}`);
  expect(lines).not.toContain('wire/test/a.test.ts:');
  expect(lines[lines.indexOf('wire/test/b.test.ts:') + 1]).toBe('noise');
  expect(lines.join('\n')).toMatch(/\n 2 pass\n 1 skip\n 0 fail\n/);
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
])('%s fails the run, and is repeated at the end', async (_what, text, report) => {
  const { code, lines } = await runProject({ 'a.test.ts': text, 'b.test.ts': "test('good', () => {});" });
  expect(code).toBe(1);
  expect(lines).toContain(' 1 pass');
  expect(lines).toContain(' 1 fail');
  expect(lines[lines.indexOf('wire/test/a.test.ts:') + 1]).toBe('context');
  expect(lines.at(-2)).toStartWith(`wire/test/a.test.ts: ${report}`);
});

test('a run that uses PostgreSQL keeps its exit code', () => {
  const program = `import '${join(import.meta.dir, 'postgres-server.ts')}'; process.exitCode = 3;`;
  expect(Bun.spawnSync([process.execPath, '-e', program]).exitCode).toBe(3);
});
