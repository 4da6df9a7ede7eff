// Measures the speed and memory of transaction imports: new rows, the same file again, a few changed rows, then all rows
// changed. Compares SQLite with a bare loop that inserts the same columns into a table with one index. The two alternate, and
// the result is the median, because a machine's speed varies.
//   npm run bench:import -- [--rows 1000000] [--databases sqlite,postgres] [--repeats 3]

import { Database as SqliteFile } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { printTransaction } from '@offerbook/wire/transaction.ts';
import { COMMAND, offerbook } from '../service/test/support/command.ts';
import { newPostgresDatabase, stopPostgres } from '../service/test/support/postgres-server.ts';
import { percentile } from './percentile.ts';
import { uuidV4, uuidV7 } from './random-transactions.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    repeats: { type: 'string', default: '3' },
  },
});
const ROWS = Number(options.rows);
const CHANGED_ROWS = 10_000;
const SOLD_FROM_MS = Date.parse('2026-01-01T00:00:00Z');

interface Row {
  readonly id: string;
  readonly document: string;
}

function* rows(random: Random, status: 'PENDING' | 'CONFIRMED'): Generator<Row> {
  for (let i = 0; i < ROWS; i++) {
    const soldAtMs = SOLD_FROM_MS + i * 1_000;
    const id = i % 2 === 0 ? uuidV4(random) : uuidV7(soldAtMs, random);
    const sale = {
      id,
      country: 'DE',
      clickedAt: printTimestamp(soldAtMs - 600_000),
      soldAt: printTimestamp(soldAtMs),
      currencyCode: 'EUR',
      orderValue: (i % 100_000) / 100,
      cashback: (i % 1_000) / 100,
      activatedAt: null,
      passbackUid: `user-${i}`,
      passbackData: 'campaign=autumn',
      status,
      cashbackOfferId: uuidV4(random),
      couponId: null,
      promotionId: null,
    };
    yield { id, document: printTransaction(sale, printTimestamp(soldAtMs)) };
  }
}

async function writeFile(path: string, source: Iterable<Row>, count: number): Promise<void> {
  const sink = Bun.file(path).writer();
  let written = 0;
  for (const { document } of source) {
    sink.write(`${document}\n`);
    if (++written % 10_000 === 0) await sink.flush();
    if (written === count) break;
  }
  await sink.end();
}

/** Inserts the same columns with one index in one transaction. Creating the rows is not measured. */
function bareLoopS(path: string): number {
  const file = new SqliteFile(path, { create: true, strict: true });
  file.run('PRAGMA journal_mode = WAL');
  file.run('PRAGMA synchronous = FULL');
  file.run('PRAGMA cache_size = -65536');
  file.run(
    'CREATE TABLE transactions (id TEXT PRIMARY KEY, org_id INTEGER NOT NULL, updated_at INTEGER NOT NULL, document TEXT NOT NULL) STRICT',
  );
  const insert = file.prepare(
    'INSERT INTO transactions (id, org_id, updated_at, document) VALUES (?1, ?2, ?3, ?4)',
  );
  let spentMs = 0;
  const timed = (work: () => void) => {
    const startedMs = performance.now();
    work();
    spentMs += performance.now() - startedMs;
  };
  timed(() => file.run('BEGIN'));
  let batch: Row[] = [];
  const flush = () => {
    timed(() => {
      for (const { id, document } of batch) insert.run(id, 1, SOLD_FROM_MS, document);
    });
    batch = [];
  };
  for (const row of rows(new Random('bench', 1), 'PENDING')) {
    batch.push(row);
    if (batch.length === 10_000) flush();
  }
  flush();
  timed(() => file.run('COMMIT'));
  file.close();
  return spentMs / 1000;
}

async function importFile(url: string, path: string): Promise<Measured> {
  const startedMs = performance.now();
  const child = Bun.spawn([COMMAND, 'import', 'transactions', path, '--org', 'bench', '--database', url], {
    stdout: 'ignore',
    stderr: 'inherit',
  });
  if ((await child.exited) !== 0) throw new Error(`the import of ${path} failed`);
  return {
    seconds: (performance.now() - startedMs) / 1000,
    peakMb: (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20,
    cpuS: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
  };
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
const [first, changed, allChanged] = ['first', 'changed', 'all-changed'].map((name) =>
  join(folder, `${name}.ndjson`),
) as [string, string, string];

interface Measured {
  readonly seconds: number;
  readonly peakMb?: number;
  /** CPU time of the process, which on SQLite is that of the whole import. */
  readonly cpuS?: number;
}
const measured = new Map<string, Measured[]>();
const note = (what: string, result: Measured) => measured.set(what, [...(measured.get(what) ?? []), result]);

async function newDatabase(name: string): Promise<string> {
  if (name === 'postgres') return newPostgresDatabase();
  for (const ending of ['', '-wal', '-shm']) rmSync(join(folder, `import.db${ending}`), { force: true });
  return `sqlite:${join(folder, 'import.db')}`;
}

async function importAll(name: string): Promise<void> {
  const url = await newDatabase(name);
  await offerbook(['orgs', 'create', 'bench', '--database', url]);
  note(`${name}: new rows`, await importFile(url, first));
  note(`${name}: the same file again`, await importFile(url, first));
  note(`${name}: ${CHANGED_ROWS.toLocaleString('en')} rows changed`, await importFile(url, changed));
  note(`${name}: all other rows changed`, await importFile(url, allChanged));
}

const BARE = 'bare insert loop, SQLite, one index';
try {
  await writeFile(first, rows(new Random('bench', 1), 'PENDING'), ROWS);
  await writeFile(changed, rows(new Random('bench', 1), 'CONFIRMED'), CHANGED_ROWS);
  await writeFile(allChanged, rows(new Random('bench', 1), 'CONFIRMED'), ROWS);
  for (let round = 0; round < Number(options.repeats); round++) {
    note(BARE, { seconds: bareLoopS(join(folder, `bare-${round}.db`)) });
    rmSync(join(folder, `bare-${round}.db`));
    for (const name of options.databases.split(',')) await importAll(name);
  }
  const size = (Bun.file(first).size / 2 ** 20).toFixed(0);
  print(`${ROWS.toLocaleString('en')} transactions, ${size} MB of NDJSON\n`);
  print(
    '| what | median | fastest – slowest | least CPU time | peak memory | speed relative to the bare loop |',
  );
  print('|---|---|---|---|---|---|');
  const medianS = (what: string) =>
    percentile(
      (measured.get(what) ?? []).map((it) => it.seconds),
      0.5,
    );
  for (const [what, results] of measured) {
    const seconds = results.map((it) => it.seconds);
    const peakMb = Math.max(...results.map((it) => it.peakMb ?? 0));
    const range = `${Math.min(...seconds).toFixed(1)} – ${Math.max(...seconds).toFixed(1)} s`;
    const memory = peakMb === 0 ? '' : `${peakMb.toFixed(0)} MB`;
    const ratio = what.endsWith('changed') ? '' : (medianS(BARE) / medianS(what)).toFixed(2);
    const cpuS = Math.min(...results.map((it) => it.cpuS ?? Number.NaN));
    const cpu = Number.isNaN(cpuS) ? '' : `${cpuS.toFixed(1)} s`;
    print(`| ${what} | ${medianS(what).toFixed(1)} s | ${range} | ${cpu} | ${memory} | ${ratio} |`);
  }
} finally {
  await stopPostgres();
  rmSync(folder, { recursive: true, force: true });
}
