// Measures the speed and memory of pulling a network's sales, compared with `convert | import` of the same rows from a file. The
// two alternate, and the result is the median, because a machine's speed varies. The pull ignores the network's rate
// limit, which would spread the 43 requests to Awin over about two and a half minutes.
//   npm run bench:pull -- [--rows 1000000] [--repeats 3] [--days 390]

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
    days: { type: 'string', default: '390' },
  },
});
const ROWS = Number(options.rows);
const HISTORY_MS = Number(options.days) * 86_400_000;
const NOW_MS = Date.now();
const soldAtMs = (i: number) =>
  Math.floor((NOW_MS - HISTORY_MS + (i / ROWS) * (HISTORY_MS - 86_400_000)) / 1_000) * 1_000;

/** Writes all rows to one file, and remembers where each row starts. */
async function writeFeed(path: string): Promise<Float64Array> {
  const starts = new Float64Array(ROWS + 1);
  const sink = Bun.file(path).writer();
  sink.write('[');
  let at = 1;
  for (let i = 0; i < ROWS; i++) {
    starts[i] = at;
    // All characters are ASCII.
    const line = `${awinRow(i, soldAtMs(i))}${i === ROWS - 1 ? ' ' : ','}\n`;
    sink.write(line);
    at += line.length;
    if (i % 10_000 === 0) await sink.flush();
  }
  starts[ROWS] = at;
  sink.write(']\n');
  await sink.end();
  return starts;
}

/** Serves the rows of a window as parts of the file, which costs almost no CPU. Only the stream of new sales has rows. */
function serve(path: string, starts: Float64Array) {
  const firstFrom = (ms: number) => {
    let [low, high] = [0, ROWS];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (soldAtMs(middle) < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { searchParams } = new URL(request.url);
      const at = (name: string) => Date.parse(`${searchParams.get(name)}Z`);
      const [from, to] = [firstFrom(at('startDate')), firstFrom(at('endDate'))];
      if (searchParams.get('dateType') !== 'transaction' || from === to) return Response.json([]);
      // Without the comma after the last row.
      const rows = Bun.file(path).slice(starts[from], (starts[to] ?? 0) - 2);
      return new Response(list(rows));
    },
  });
}

async function* list(rows: Blob): AsyncGenerator<Uint8Array> {
  yield Buffer.from('[');
  yield* rows.stream();
  yield Buffer.from(']');
}

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
  /** CPU time of all processes, which varies less on a busy machine. */
  readonly cpuS: number;
}

async function measure(command: readonly string[]): Promise<Measured> {
  const startedMs = performance.now();
  // As service/bin/offerbook sets it.
  const env = { ...process.env, BUN_JSC_forceRAMSize: '200000000' };
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'inherit', env });
  if ((await child.exited) !== 0) throw new Error(`failed: ${command.join(' ')}`);
  const { maxRSS = 0, cpuTime } = child.resourceUsage() ?? {};
  const cpuS = Number(cpuTime?.total ?? 0) / 1e6;
  return { seconds: (performance.now() - startedMs) / 1000, peakMb: maxRSS / 2 ** 20, cpuS };
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
try {
  const [feed, sourcePath] = [join(folder, 'awin.json'), join(folder, 'source.json')];
  const starts = await writeFeed(feed);
  using server = serve(feed, starts);
  const example = exampleSource('awin', '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10');
  const source = {
    ...example,
    baseUrl: `http://127.0.0.1:${server.port}`,
    credentials: { token: { env: 'T' } },
  };
  writeFileSync(sourcePath, JSON.stringify(source));
  const all: Record<'pull' | 'convert, import', Measured[]> = { pull: [], 'convert, import': [] };
  for (let round = 0; round < Number(options.repeats); round++) {
    for (const what of ['convert, import', 'pull'] as const) {
      const url = `sqlite:${join(folder, `${round}-${what.slice(0, 4)}.db`)}`;
      await offerbook(['orgs', 'create', 'bench', '--database', url]);
      const convert = `${COMMAND} convert transactions --source ${sourcePath} ${feed}`;
      const command =
        what === 'pull'
          ? [process.execPath, join(import.meta.dir, 'pull-process.ts'), sourcePath, url]
          : [
              'bash',
              '-ec',
              `set -o pipefail; ${convert} | ${COMMAND} import transactions - --org bench --database ${url}`,
            ];
      all[what].push(await measure(command));
      for (const end of ['', '-wal', '-shm']) rmSync(`${url.slice('sqlite:'.length)}${end}`, { force: true });
    }
  }
  const median = (of: readonly Measured[], name: keyof Measured) =>
    percentile(
      of.map((it) => it[name]),
      0.5,
    );
  const megabytes = (Bun.file(feed).size / 2 ** 20).toFixed(0);
  print(
    `${ROWS.toLocaleString('en')} sales of ${options.days} days, ${megabytes} MB of Awin's JSON, SQLite\n`,
  );
  print('| what | median | fastest – slowest | CPU | peak memory | speed | speed by CPU |');
  print('|---|---|---|---|---|---|---|');
  const files = all['convert, import'];
  for (const [what, measured] of Object.entries(all)) {
    const seconds = measured.map((it) => it.seconds);
    const speeds = (['seconds', 'cpuS'] as const).map((name) =>
      (median(files, name) / median(measured, name)).toFixed(2),
    );
    const cells = [
      ...[what, `${median(measured, 'seconds').toFixed(1)} s`],
      `${Math.min(...seconds).toFixed(1)} – ${Math.max(...seconds).toFixed(1)} s`,
      `${median(measured, 'cpuS').toFixed(1)} s`,
      `${Math.max(...measured.map((it) => it.peakMb)).toFixed(0)} MB`,
      ...speeds,
    ];
    print(`| ${cells.join(' | ')} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
