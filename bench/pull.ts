// Measures the speed and memory of pulling a network's sales, compared with `convert | import` of the same rows from a file. The
// two alternate, and the result is the median, because a machine's speed varies. The pull ignores the network's rate
// limit, which would spread the 43 requests to Awin over about two and a half minutes.
//   npm run bench -- pull [--rows 1000000] [--repeats 3] [--days 390]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exampleSource } from '@offerbook/feeds/source/example-source.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { firstIndex } from '../service/src/catalogue/binary-search.ts';
import { readPullSource } from '../service/src/cli/commands/data/pull-sources.ts';
import { systemClock } from '../service/src/domain/clock.ts';
import { pullSource } from '../service/src/pull/pull-source.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { COMMAND, offerbook } from '../service/test/support/command.ts';
import { newDatabase, withFolder } from './folder.ts';
import { median } from './percentile.ts';
import { megabytes, ratio, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    repeats: { type: 'string', default: '3' },
    days: { type: 'string', default: '390' },
    /** Used internally: the source file and the database of one pull, separated by a comma. */
    run: { type: 'string' },
  },
});
const ROWS = Number(options.rows);
const DAY_MS = 86_400_000;
const HISTORY_MS = Number(options.days) * DAY_MS;
const NOW_MS = Date.now();
const STATUSES = ['pending', 'approved', 'declined'];

if (options.run === undefined) await withFolder(measureAll);
else await pull(options.run.split(','));

/** The first pull from a source. */
async function pull([sourcePath = '', databaseUrl = '']: readonly string[]): Promise<void> {
  process.env.T = 'secret';
  const stores = await openStores(databaseUrl, COMMAND_OPTIONS);
  const [org] = await stores.organisations.list();
  const startMs = systemClock() - HISTORY_MS - 6 * DAY_MS;
  const reports = await pullSource(
    await readPullSource(sourcePath, {}),
    { only: 'transactions', org, startMs, by: 'bench', version: '0' },
    { stores, clock: systemClock, sleep: async () => {}, random: Math.random },
  );
  const errors = reports.flatMap(({ error }) => error ?? []);
  if (errors.length > 0) throw new Error(errors.join('\n'));
  await stores.close();
}

async function measureAll(folder: string): Promise<void> {
  const [feed, sourcePath] = [join(folder, 'awin.json'), join(folder, 'source.json')];
  const starts = await writeFeed(feed);
  using server = serve(feed, starts);
  const source = {
    ...exampleSource('awin', '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10'),
    baseUrl: `http://127.0.0.1:${server.port}`,
    credentials: { token: { env: 'T' } },
  };
  writeFileSync(sourcePath, JSON.stringify(source));
  const commands: Record<string, (url: string) => string[]> = {
    'convert | import': (url) => [
      ...[
        'bash',
        '-ec',
        'set -o pipefail; "$0" convert transactions --source "$1" "$2" | "$0" import transactions - --org bench --database "$3"',
      ],
      ...[COMMAND, sourcePath, feed, url],
    ],
    pull: (url) => [
      process.execPath,
      import.meta.path,
      '--days',
      options.days,
      '--run',
      `${sourcePath},${url}`,
    ],
  };
  const measured = Object.keys(commands).map((name) => ({ name, results: [] as Measured[] }));
  for (let round = 0; round < Number(options.repeats); round++) {
    for (const { name, results } of measured) {
      const url = await newDatabase('sqlite', folder);
      await offerbook(['orgs', 'create', 'bench', '--database', url]);
      results.push(await measure(commands[name]?.(url) ?? []));
    }
  }
  const medians = measured.map(({ name, results }) => ({
    name,
    seconds: median(results, (it) => it.seconds),
    cpuS: median(results, (it) => it.cpuS),
    peakBytes: Math.max(...results.map((it) => it.peakBytes)),
  }));
  const [files] = medians;
  const rows = medians.map(({ name, seconds, cpuS, peakBytes }) => [
    ...[name, `${seconds.toFixed(1)} s`, `${cpuS.toFixed(1)} s`, megabytes(peakBytes)],
    ...[ratio((files?.seconds ?? 0) / seconds), ratio((files?.cpuS ?? 0) / cpuS)],
  ]);
  const head = ['what', 'median', 'CPU time', 'peak memory', 'speed', 'speed by CPU time'];
  process.stdout.write(
    `${whole(ROWS)} sales of ${options.days} days, ${megabytes(Bun.file(feed).size)} of Awin's JSON, SQLite\n\n${table(head, rows)}\n`,
  );
}

interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
  /** CPU time of all processes, which varies less on a busy machine. */
  readonly cpuS: number;
}

async function measure(command: readonly string[]): Promise<Measured> {
  const startedMs = performance.now();
  // As service/bin/offerbook sets it.
  const env = { ...process.env, BUN_JSC_forceRAMSize: '200000000' };
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'inherit', env });
  if ((await child.exited) !== 0) throw new Error(`failed: ${command.join(' ')}`);
  const { maxRSS: peakBytes = 0, cpuTime } = child.resourceUsage() ?? {};
  const cpuS = Number(cpuTime?.total ?? 0) / 1e6;
  return { seconds: (performance.now() - startedMs) / 1000, peakBytes, cpuS };
}

function soldAtMs(i: number): number {
  return Math.floor((NOW_MS - HISTORY_MS + (i / ROWS) * (HISTORY_MS - DAY_MS)) / 1_000) * 1_000;
}

/** A row with all fields that Awin sends. All characters are ASCII. */
function awinRow(i: number): string {
  const group = {
    commissionGroupId: 297_335 + (i % 900),
    amount: (i % 100_000) / 100,
    commissionAmount: 4.05,
  };
  return JSON.stringify({
    id: 900_100_200 + i,
    url: 'https://cashback.example',
    advertiserId: 17_874 + (i % 500),
    publisherId: 77_777,
    campaign: null,
    siteName: 'Cashback Example',
    commissionStatus: STATUSES[i % 3],
    commissionAmount: { amount: (i % 1_000) / 100, currency: 'EUR' },
    saleAmount: { amount: (1 + (i % 100_000)) / 100, currency: 'EUR' },
    customerCountry: 'DE',
    clickRefs: { clickRef: `user${i}`, clickRef2: 'autumn' },
    clickDate: printTimestamp(soldAtMs(i) - 600_000),
    transactionDate: printTimestamp(soldAtMs(i)),
    validationDate: null,
    type: 'Commission group transaction',
    declineReason: null,
    voucherCodeUsed: false,
    voucherCode: null,
    lapseTime: 2400,
    amended: false,
    amendReason: null,
    oldSaleAmount: null,
    oldCommissionAmount: null,
    orderRef: null,
    transactionParts: [{ ...group, commissionGroupCode: 'DEFAULT', commissionGroupName: 'Default' }],
    paidToPublisher: false,
    paymentId: 0,
  });
}

/** Writes all rows to one file. Returns where each row starts. */
async function writeFeed(path: string): Promise<Float64Array> {
  const starts = new Float64Array(ROWS + 1);
  const sink = Bun.file(path).writer();
  sink.write('[');
  let at = 1;
  for (let i = 0; i < ROWS; i++) {
    starts[i] = at;
    const line = `${awinRow(i)}${i === ROWS - 1 ? ' ' : ','}\n`;
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
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { searchParams } = new URL(request.url);
      const firstFrom = (name: string) =>
        firstIndex(ROWS, (i) => soldAtMs(i) >= Date.parse(`${searchParams.get(name)}Z`));
      const [from, to] = [firstFrom('startDate'), firstFrom('endDate')];
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
