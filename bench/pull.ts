// Measures the speed and memory of pulling a network's sales, compared with `convert | import` of the same rows from a file. The
// two alternate, and the result is the median, because a machine's speed varies. The pull ignores the network's rate
// limit, which would spread the 43 requests to Awin over about two and a half minutes.
//   npm run bench -- pull [--rows 1000000] [--repeats 3]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exampleSource } from '@offerbook/feeds/source/example-source.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { awinSale } from '../feeds/test/fixture.ts';
import { firstIndex } from '../service/src/catalogue/tables/ascending.ts';
import { readPullSource } from '../service/src/cli/commands/data/pull-sources.ts';
import { systemClock } from '../service/src/domain/clock.ts';
import { pullSource } from '../service/src/pull/pull-source.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { withFolder } from './folder.ts';
import { measureInTurn } from './measure-command.ts';
import { megabytes, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    repeats: { type: 'string', default: '3' },
    /** Used internally: the source file and the database of one pull, separated by a comma. */
    run: { type: 'string' },
  },
});
const ROWS = Number(options.rows);
const BATCH = 1_000;
const CONVERT_AND_IMPORT =
  'set -o pipefail; "$0" convert transactions --source "$1" "$2" | "$0" import transactions - --org bench --database "$3"';
const HISTORY_MS = 390 * DAY_MS;
const NOW_MS = Date.now();
const STATUSES = ['pending', 'approved', 'declined'];
const FIELDS_NOT_READ = {
  ...{ url: 'https://cashback.example', siteName: 'Cashback Example', publisherId: 77_777, campaign: null },
  ...{ type: 'Commission group transaction', declineReason: null, amendReason: null, lapseTime: 2400 },
  ...{ voucherCodeUsed: false, paidToPublisher: false, paymentId: 0 },
};

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
  const sink = Bun.file(feed).writer();
  for await (const part of printRows(0, ROWS)) {
    sink.write(part);
    await sink.flush();
  }
  await sink.end();
  // Its CPU time does not count.
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  const source = {
    ...exampleSource('awin', '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10'),
    baseUrl: `http://127.0.0.1:${server.port}`,
    credentials: { token: { env: 'T' } },
  };
  writeFileSync(sourcePath, JSON.stringify(source));
  const commands: Record<string, (url: string) => string[]> = {
    'convert, import': (url) => ['bash', '-ec', CONVERT_AND_IMPORT, COMMAND, sourcePath, feed, url],
    pull: (url) => [process.execPath, import.meta.path, '--run', `${sourcePath},${url}`],
  };
  const series = Object.entries(commands).map(([name, command]) => ({
    database: 'sqlite',
    commands: (url: string) => ({ [name]: command(url) }),
  }));
  const results = await measureInTurn(folder, series, Number(options.repeats));
  process.stdout.write(
    `${whole(ROWS)} sales of 390 days, ${megabytes(Bun.file(feed).size)} of Awin's JSON, SQLite\n\n${results}\n`,
  );
}

function soldAtMs(i: number): number {
  return Math.floor((NOW_MS - HISTORY_MS + (i / ROWS) * (HISTORY_MS - DAY_MS)) / 1_000) * 1_000;
}

/** A row as long as Awin's. */
function awinRow(i: number): string {
  const sale = awinSale({
    id: 900_100_200 + i,
    advertiserId: 17_874 + (i % 500),
    commissionStatus: STATUSES[i % 3],
    commissionAmount: { amount: (i % 1_000) / 100, currency: 'EUR' },
    saleAmount: { amount: (1 + (i % 100_000)) / 100, currency: 'EUR' },
    clickRefs: { clickRef: `user${i}`, clickRef2: 'autumn' },
    clickDate: printTimestamp(soldAtMs(i) - 600_000),
    transactionDate: printTimestamp(soldAtMs(i)),
  });
  return JSON.stringify({ ...sale, ...FIELDS_NOT_READ });
}

/** The rows from one index to another as a JSON list. */
async function* printRows(from: number, to: number): AsyncGenerator<string> {
  for (let i = from; i < to; i += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, to - i) }, (_, j) => awinRow(i + j));
    yield `${i === from ? '[' : ','}${rows.join(',\n')}`;
  }
  yield from < to ? ']' : '[]';
}

/** Returns the sales of a window. Only the stream of new sales has rows. */
function answer(request: Request): Response {
  const { searchParams } = new URL(request.url);
  if (searchParams.get('dateType') !== 'transaction') return Response.json([]);
  const firstFrom = (name: string) =>
    firstIndex(ROWS, (i) => soldAtMs(i) >= Date.parse(`${searchParams.get(name)}Z`));
  return new Response(printRows(firstFrom('startDate'), firstFrom('endDate')));
}
