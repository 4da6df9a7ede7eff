// npm run test:all and npm run test:unit: runs all tests, or those that need neither PostgreSQL nor a browser, in parallel
// processes. Each process runs its files one after the other, so tests in one folder never overlap. The output of the first
// process is shown as it arrives; the output of the others is shown at the end. The last lines list every failed test and every
// required program that was missing.
//
// Tests that run commands use the executable, which is built once here. The executable starts faster than the sources, and it
// is what users run.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildForThisMachine } from '../service/scripts/build-executable.ts';
import { describeSkipped, PROGRAMS } from '../service/test/support/programs.ts';

/** Folders grouped so that all processes take about the same time. An additional process runs the remaining folders. */
const PARTS = [
  ['activation', 'cli', 'load', 'webhooks'],
  ['artefacts', 'browser', 'catalogue', 'console', 'deploy', 'faults', 'hostile', 'tracing'],
  ['chaos', 'importer', 'nemesis', 'sandbox', 'storage'],
].map((folders) => folders.map((folder) => `service/test/${folder}`));

/** Test paths for test:unit, one list per process. */
const UNIT_PARTS = [
  ['feeds/test', 'wire/test'],
  [
    'service/test/architecture.test.ts',
    'service/test/catalogue',
    'service/test/domain',
    'service/test/importer',
    'site/test',
  ],
];

const [, , mode] = process.argv;

const TEST = [process.execPath, 'test', '--timeout', '120000'];

const BUILT = join(import.meta.dir, '../node_modules/.cache/offerbook-test');

/** Runs the tests in a separate process, passes its output to onText as it arrives, and returns the exit code. */
async function run(
  part: number,
  args: readonly string[],
  settings: Record<string, string>,
  onText: (text: string) => void,
): Promise<number> {
  const env = { ...process.env, TEST_PART: String(part), ...settings };
  const child = Bun.spawn([...TEST, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }));
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  return child.exited;
}

/** The last lines: failed tests, processes with a non-zero exit code, tests skipped on this machine, and counts. */
function summary(outputs: readonly string[], codes: readonly number[]): string {
  const lines = outputs.join('\n').split('\n');
  const counted = (what: string) =>
    lines.reduce((sum, line) => sum + Number(new RegExp(`^ *(\\d+) ${what}$`).exec(line)?.[1] ?? 0), 0);
  return [
    '',
    // Bun prints each failed test twice: where it fails and in its summary.
    ...new Set(lines.filter((line) => /^\(fail\)|^# Unhandled error/.test(line))),
    ...codes.flatMap((code, i) =>
      code === 0 ? [] : [`Process ${i + 1} of ${codes.length} exited with ${code}.`],
    ),
    ...(mode === 'all' ? describeSkipped(Object.values(PROGRAMS)) : []),
    `${counted('pass')} passed, ${counted('fail')} failed, ${counted('skip')} skipped`,
    '',
  ].join('\n');
}

/** Returns the arguments and environment variables of the processes that run all tests. */
async function planAll() {
  rmSync(BUILT, { recursive: true, force: true });
  const settings = { TEST_COMMAND: await buildForThisMachine(BUILT) };
  const rest = PARTS.flat().flatMap((folder) => ['--path-ignore-patterns', `${folder}/**`]);
  return { parts: availableParallelism() < 2 ? [[]] : [rest, ...PARTS], settings };
}

const { parts, settings } =
  mode === 'unit' ? { parts: UNIT_PARTS, settings: { TEST_DATABASES: 'SQLite' } } : await planAll();
const outputs = parts.map(() => '');
const codes = await Promise.all(
  parts.map((args, i) =>
    run(i, args, settings, (text) => {
      outputs[i] += text;
      if (i === 0) process.stdout.write(text);
    }),
  ),
);
for (const text of outputs.slice(1)) process.stdout.write(text);
process.stdout.write(summary(outputs, codes));
process.exitCode = Math.max(...codes);
