// npm run test:all: every test, in processes side by side, because most tests wait more than they compute. Each process
// goes through its files one after the other, so that the tests of a folder never meet each other. What the others print
// follows when the first is done.

import { availableParallelism } from 'node:os';

/** Folders that take about a quarter of the time each. The last quarter has all the rest, so that no new folder is left out. */
const PARTS = [
  ['cli'],
  ['artefacts', 'browser', 'catalogue', 'faults', 'feeds', 'hostile'],
  ['importer', 'nemesis', 'sandbox', 'storage'],
].map((folders) => folders.map((folder) => `service/test/${folder}`));

const TEST = [process.execPath, 'test', '--timeout', '120000'];

function start(args: readonly string[], stdout: 'inherit' | 'pipe') {
  return Bun.spawn([...TEST, ...args], { stdio: ['ignore', stdout, stdout] });
}

async function textOf({ stdout, stderr }: Bun.Subprocess): Promise<string> {
  const parts = [stdout, stderr].map((stream) => new Response(stream as ReadableStream).text());
  return (await Promise.all(parts)).join('\n');
}

if (availableParallelism() < 2) process.exit(await start([], 'inherit').exited);

const rest = PARTS.flat().flatMap((folder) => ['--path-ignore-patterns', `${folder}/**`]);
const [first, ...others] = [rest, ...PARTS].map((args, i) => start(args, i === 0 ? 'inherit' : 'pipe'));
const texts = others.map(textOf);
const codes = [await first?.exited];
for (const [i, other] of others.entries()) {
  process.stdout.write((await texts[i]) ?? '');
  codes.push(await other.exited);
}
process.exit(Math.max(...codes.map((code) => code ?? 1)));
