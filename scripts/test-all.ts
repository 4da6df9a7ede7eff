// npm run test:all: every test, in processes side by side, because most tests wait more than they compute. Each process
// goes through its files one after the other, so that the tests of a folder never meet each other. What the first prints
// is shown at once, what the others print follows when it is done. The last lines name every test that failed.
//
// The commands that they run are the executable, built once: the tests see what is handed out. It starts in a third of the
// time that the sources take, and there are more than a thousand commands.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildForThisMachine } from '../service/scripts/build-executable.ts';

/** Folders that take about a quarter of the time each. The last quarter has all the rest, so that no new folder is left out. */
const PARTS = [
  ['cli'],
  ['artefacts', 'browser', 'catalogue', 'faults', 'feeds', 'hostile'],
  ['importer', 'nemesis', 'sandbox', 'storage'],
].map((folders) => folders.map((folder) => `service/test/${folder}`));

const TEST = [process.execPath, 'test', '--timeout', '120000'];

const BUILT = join(import.meta.dir, '../node_modules/.cache/offerbook-test');

/** Runs the tests in a process of their own. Tells each piece of what it prints, and returns its exit code. */
async function run(part: number, args: readonly string[], onText: (text: string) => void): Promise<number> {
  const env = { ...process.env, TEST_PART: String(part), TEST_COMMAND: command };
  const child = Bun.spawn([...TEST, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }));
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  return child.exited;
}

/** The last lines: every test that failed, how many there were, and the processes that did not end well. */
function summary(texts: readonly string[], codes: readonly number[]): string {
  const lines = texts.join('\n').split('\n');
  const counted = (what: string) =>
    lines.reduce((sum, line) => sum + Number(new RegExp(`^ *(\\d+) ${what}$`).exec(line)?.[1] ?? 0), 0);
  return [
    '',
    // Bun names a test that failed twice: where it failed, and at its end.
    ...new Set(lines.filter((line) => /^\(fail\)|^# Unhandled error/.test(line))),
    ...codes.flatMap((code, i) =>
      code === 0 ? [] : [`Process ${i + 1} of ${codes.length} ended with ${code}.`],
    ),
    `${counted('pass')} passed, ${counted('fail')} failed, ${counted('skip')} skipped`,
    '',
  ].join('\n');
}

rmSync(BUILT, { recursive: true, force: true });
const command = await buildForThisMachine(BUILT);
const rest = PARTS.flat().flatMap((folder) => ['--path-ignore-patterns', `${folder}/**`]);
const parts = availableParallelism() < 2 ? [[]] : [rest, ...PARTS];
const texts = parts.map(() => '');
const codes = await Promise.all(
  parts.map((args, i) =>
    run(i, args, (text) => {
      texts[i] += text;
      if (i === 0) process.stdout.write(text);
    }),
  ),
);
for (const text of texts.slice(1)) process.stdout.write(text);
process.stdout.write(summary(texts, codes));
process.exitCode = Math.max(...codes);
