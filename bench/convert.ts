// Measures the speed and memory of converting a network's transactions, compared with importing the result. The two alternate,
// and the result is the median, because a machine's speed varies.
//   npm run bench:convert -- [--rows 1000000] [--repeats 3]

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exampleSource } from '@offerbook/feeds/source/example-source.ts';
import { COMMAND, offerbook } from '../service/test/support/command.ts';
import { awinRow } from './awin-row.ts';
import { percentile } from './percentile.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    repeats: { type: 'string', default: '3' },
  },
});
const ROWS = Number(options.rows);
const SOLD_FROM_MS = Date.parse('2026-01-01T00:00:00Z');

async function writeFeed(path: string): Promise<void> {
  const sink = Bun.file(path).writer();
  sink.write('[');
  for (let i = 0; i < ROWS; i++) {
    sink.write(`${i === 0 ? '' : ',\n'}${awinRow(i, SOLD_FROM_MS + i * 1_000)}`);
    if (i % 10_000 === 0) await sink.flush();
  }
  sink.write(']\n');
  await sink.end();
}

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
}

async function measure(args: readonly string[]): Promise<Measured> {
  const startedMs = performance.now();
  const child = Bun.spawn([COMMAND, ...args], { stdout: 'ignore', stderr: 'inherit' });
  if ((await child.exited) !== 0) throw new Error(`failed: ${args.join(' ')}`);
  const peakMb = (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20;
  return { seconds: (performance.now() - startedMs) / 1000, peakMb };
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
try {
  const [feed, source, out] = ['awin.json', 'source.json', 'out.ndjson'].map((name) => join(folder, name));
  const example = { ...exampleSource('awin', '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10'), overlay: undefined };
  writeFileSync(source ?? '', JSON.stringify(example));
  await writeFeed(feed ?? '');
  const [converts, imports]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < Number(options.repeats); round++) {
    const url = `sqlite:${join(folder, `${round}.db`)}`;
    await offerbook(['orgs', 'create', 'bench', '--database', url]);
    const files = ['--source', source ?? '', '--out', out ?? '', feed ?? ''];
    converts.push(await measure(['convert', 'transactions', ...files]));
    imports.push(await measure(['import', 'transactions', out ?? '', '--org', 'bench', '--database', url]));
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder, `${round}.db${ending}`), { force: true });
  }
  const medianS = (all: readonly Measured[]) =>
    percentile(
      all.map((it) => it.seconds),
      0.5,
    );
  print(
    `${ROWS.toLocaleString('en')} transactions, ${(Bun.file(feed ?? '').size / 2 ** 20).toFixed(0)} MB of Awin's JSON\n`,
  );
  print('| what | median | fastest – slowest | peak memory | speed relative to the import |');
  print('|---|---|---|---|---|');
  for (const [what, all] of [
    ['convert', converts],
    ['import into SQLite', imports],
  ] as const) {
    const seconds = all.map((it) => it.seconds);
    const range = `${Math.min(...seconds).toFixed(1)} – ${Math.max(...seconds).toFixed(1)} s`;
    const memory = `${Math.max(...all.map((it) => it.peakMb)).toFixed(0)} MB`;
    const ratio = (medianS(imports) / medianS(all)).toFixed(2);
    print(`| ${what} | ${medianS(all).toFixed(1)} s | ${range} | ${memory} | ${ratio} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
