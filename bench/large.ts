// Measures what grows with the number of transactions. Fills one database of each size, then alternates between them, so that
// other work on the machine affects all sizes alike. `growth` is the result at the largest size divided by the result at
// the smallest.
//   npm run bench:large -- [--rows 10000000,20000000] [--pages 500] [--databases sqlite,postgres]
// A million transactions need about 1 GB in the temporary folder (TMPDIR).

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { systemClock } from '../service/src/domain/clock.ts';
import type { Organisation } from '../service/src/domain/organisation.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import type { TransactionQuery } from '../service/src/domain/transaction.ts';
import { stampAll } from '../service/src/storage/backup/new-timeline.ts';
import { openDatabase, SERVER_OPTIONS, sqlitePath } from '../service/src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { EVERYTHING } from '../service/test/storage/open-test-stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { postgresUrl, startPostgres } from '../service/test/support/postgres-server.ts';
import { withFolder } from './folder.ts';
import {
  END_MS,
  randomId,
  randomUser,
  randomWindow,
  seedTransactions,
  uuidV4,
  writeHistory,
} from './random-transactions.ts';
import { describeMachine } from './report.ts';
import { megabytes, percentile, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000,20000000' },
    pages: { type: 'string', default: '500' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
});
const PAGES = Number(options.pages);
const LIMIT = 100;
const IMPORTED_ROWS = 100_000;
const ROWS_PER_USER = 10;
/** Each read is repeated, and the fastest repetition counts, because on a busy machine some have to wait for a core. */
const REPEATS = 5;
/** Not durable, but with the memory of a server that has the machine to itself. */
const POSTGRES_SETTINGS = [
  ...['fsync=off', 'autovacuum=off', 'shared_buffers=4GB', 'max_wal_size=8GB', 'wal_level=minimal'],
  'max_wal_senders=0',
];

/** A database of one size. */
interface Subject {
  readonly url: string;
  readonly rows: number;
  readonly stores: Stores;
  readonly orgs: readonly Organisation[];
  readonly users: number;
}

type Format = (value: number) => string;
const ms: Format = (value) => `${value.toFixed(2)} ms`;
const seconds: Format = (value) => `${value.toFixed(1)} s`;

const print = (text: string) => process.stdout.write(`${text}\n`);

function printRow(what: string, values: readonly number[], format: Format): void {
  const growth = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
  print(`| ${[what, ...values.map(format), growth.toFixed(2)].join(' | ')} |`);
}

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

type Read = (subject: Subject, random: Random) => Promise<unknown>;

const page =
  (query: (random: Random, users: number) => Partial<TransactionQuery>): Read =>
  ({ stores, orgs, users }, random) =>
    stores.transactions.page({
      ...{ orgId: random.pick(orgs).id, cursor: undefined, window: EVERYTHING, limit: LIMIT },
      ...query(random, users),
    });

const READS: Readonly<Record<string, Read>> = {
  'page without a window': page((random) => ({ cursor: uuidV4(random) })),
  'first page of a window': page((random) => ({ window: randomWindow(random) })),
  'later page of a window': page((random) => ({
    window: randomWindow(random),
    cursor: randomId(random),
  })),
  'page of a user': page((random, users) => ({ passbackUid: randomUser(random, users) })),
  'page of a user in a window': page((random, users) => ({
    passbackUid: randomUser(random, users),
    window: randomWindow(random),
  })),
  'search for a user': ({ stores, users }, random) =>
    stores.history.findByPassbackUid(randomUser(random, users), { limit: LIMIT }),
  'latest changes': ({ stores }) => stores.history.latest({ window: EVERYTHING, limit: LIMIT }),
  'all daily totals': ({ stores }) => stores.totals.read(() => {}),
};

const READS_AS_OF: Readonly<Record<string, Read>> = {
  'later page of a walk, 100,000 changes later': page((random) => ({
    window: randomWindow(random),
    cursor: randomId(random),
    asOfMs: END_MS,
  })),
};

async function measureReads(subjects: readonly Subject[], reads: typeof READS): Promise<void> {
  for (const [what, read] of Object.entries(reads)) {
    const timesMs = subjects.map((): number[] => []);
    for (let i = 0; i < PAGES; i++) {
      for (const [index, subject] of subjects.entries()) {
        const run = () => timeMs(() => read(subject, new Random('large', what, i)));
        let fastestMs = Number.POSITIVE_INFINITY;
        for (let again = 0; again < REPEATS; again++) fastestMs = Math.min(fastestMs, await run());
        timesMs[index]?.push(fastestMs);
      }
    }
    const at = (share: number) => timesMs.map((spent) => percentile(spent, share));
    printRow(`${what}: median`, at(0.5), ms);
    printRow(`${what}: p99`, at(0.99), ms);
  }
}

async function measureEach(
  what: string,
  subjects: readonly Subject[],
  measure: (subject: Subject) => Promise<number>,
  format: Format,
): Promise<void> {
  const results: number[] = [];
  for (const subject of subjects) results.push(await measure(subject));
  printRow(what, results, format);
}

async function databaseBytes({ url }: Subject): Promise<number> {
  const path = sqlitePath(url);
  if (path !== undefined) return statSync(path).size;
  const database = openDatabase(url, COMMAND_OPTIONS);
  const [row] = await database.all<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  await database.close();
  return row?.bytes ?? 0;
}

/** Imports a file with the command line. Returns the duration in seconds. Throws if the report has other counts. */
async function importFile(url: string, file: string, org: string, expected: Record<string, number>) {
  const startedMs = performance.now();
  const printed =
    await Bun.$`${COMMAND} import transactions ${file} --org ${org} --database ${url} --json`.text();
  const report = JSON.parse(printed) as Record<string, number>;
  for (const [name, count] of Object.entries(expected))
    if (report[name] !== count) throw new Error(`not all rows were imported: ${printed}`);
  return (performance.now() - startedMs) / 1_000;
}

/** Imports changed passback data for random transactions of the first organisation. */
async function importChanges({ url, stores, orgs: [org] }: Subject, folder: string): Promise<number> {
  const random = new Random('bench', 'changes');
  const lines = new Map<string, string>();
  // A small table can have fewer rows.
  for (let pages = 0; pages < IMPORTED_ROWS / 10 && lines.size < IMPORTED_ROWS; pages++) {
    const query = { orgId: org?.id ?? 0, cursor: uuidV4(random), limit: LIMIT, window: EVERYTHING };
    const { data } = await stores.transactions.page(query);
    for (const row of JSON.parse(`[${Buffer.from(data)}]`) as Transaction[])
      lines.set(row.id, JSON.stringify({ ...row, passbackData: 'changed' }));
  }
  const changes = [...lines.values()].slice(0, IMPORTED_ROWS);
  const file = join(folder, 'changes.ndjson');
  await Bun.write(file, changes.join('\n'));
  return importFile(url, file, org?.name ?? '', { changed: changes.length });
}

/** Time per transaction to give the smallest organisation's transactions new stamps, in milliseconds. */
async function markMs({ url, orgs }: Subject): Promise<number> {
  const database = openDatabase(url, COMMAND_OPTIONS);
  let marked = 0;
  const spentMs = await timeMs(() =>
    stampAll(database, systemClock, orgs.at(-1)?.id ?? 0, systemClock(), (rows) => {
      marked += rows;
    }),
  );
  await database.close();
  return spentMs / marked;
}

async function fill(url: string, rows: number): Promise<Subject> {
  const users = rows / ROWS_PER_USER;
  const spentMs = await timeMs(() =>
    seedTransactions(url, rows, new Random('large', rows), (random) => randomUser(random, users)),
  );
  print(`Filled ${whole(rows)} transactions in ${seconds(spentMs / 1_000)}.`);
  const stores = await openStores(url, { ...SERVER_OPTIONS, statementTimeoutMs: 0 });
  return { url, rows, stores, orgs: await stores.organisations.list(), users };
}

async function measure(name: string, subjects: readonly Subject[], folder: string): Promise<void> {
  const head = [name, ...subjects.map(({ rows }) => whole(rows)), 'growth'];
  print(`\n${table(head, [])}`);
  await measureReads(subjects, READS);
  await measureEach('size', subjects, databaseBytes, megabytes);
  const file = await writeHistory(folder, IMPORTED_ROWS, new Random('large', 'import'));
  const importNew = ({ url, orgs: [org] }: Subject) =>
    importFile(url, file, org?.name ?? '', { added: IMPORTED_ROWS });
  await measureEach(`import of ${whole(IMPORTED_ROWS)} new rows`, subjects, importNew, seconds);
  const change = (subject: Subject) => importChanges(subject, folder);
  await measureEach(`import of ${whole(IMPORTED_ROWS)} changed rows`, subjects, change, seconds);
  await measureReads(subjects, READS_AS_OF);
  await measureEach('new stamps after a restore, per transaction', subjects, markMs, ms);
}

await withFolder(async (folder) => {
  print(describeMachine());
  for (const name of options.databases.split(',')) {
    const server =
      name === 'postgres'
        ? await startPostgres(POSTGRES_SETTINGS.flatMap((setting) => ['-c', setting]))
        : undefined;
    const subjects: Subject[] = [];
    try {
      for (const rows of options.rows.split(',').map(Number)) {
        await server?.process.createDatabase(`bench_${rows}`);
        const url =
          server === undefined
            ? `sqlite:${join(folder, `${rows}.db`)}`
            : postgresUrl(server.port, `bench_${rows}`);
        subjects.push(await fill(url, rows));
      }
      await measure(name, subjects, folder);
    } finally {
      for (const { stores, rows } of subjects) {
        await stores.close();
        rmSync(join(folder, `${rows}.db`), { force: true });
      }
      await server?.process.stop();
      if (server !== undefined) rmSync(server.directory, { recursive: true });
    }
  }
});
