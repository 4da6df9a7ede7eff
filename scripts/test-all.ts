// npm run test:all: every test, in two processes side by side, because most tests wait more than they compute. Each half
// goes through its files one after the other, so that the tests of a folder never meet each other. What the second half
// prints follows when the first is done.

import { availableParallelism } from 'node:os';

/** Folders that take about half of the time. The other half has all the rest, so that no new folder is left out. */
const FIRST_HALF = ['catalogue', 'cli', 'feeds', 'hostile', 'importer', 'nemesis', 'sandbox', 'storage'].map(
  (folder) => `service/test/${folder}`,
);

const TEST = [process.execPath, 'test', '--timeout', '120000'];

function start(args: readonly string[], stdout: 'inherit' | 'pipe') {
  return Bun.spawn([...TEST, ...args], { stdio: ['ignore', stdout, stdout] });
}

async function textOf({ stdout, stderr }: Bun.Subprocess): Promise<string> {
  const parts = [stdout, stderr].map((stream) => new Response(stream as ReadableStream).text());
  return (await Promise.all(parts)).join('\n');
}

if (availableParallelism() < 2) process.exit(await start([], 'inherit').exited);

const first = start(FIRST_HALF, 'inherit');
const second = start(
  FIRST_HALF.flatMap((folder) => ['--path-ignore-patterns', `${folder}/**`]),
  'pipe',
);
const secondText = textOf(second);
const codes = [await first.exited];
process.stdout.write(await secondText);
codes.push(await second.exited);
process.exit(Math.max(...codes));
