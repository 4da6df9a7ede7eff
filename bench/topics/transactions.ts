// Measures pages of transactions from random cursors in a million rows, on both databases. By default the tables are filled as
// if row by row, so neighbouring ids are scattered. With --imported they contain three years of history from one import, which
// sorts its rows, as after a migration to Offerbook.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import postgres from 'postgres';
import type { Stores } from '../../service/src/domain/stores.ts';
import { openDatabase } from '../../service/src/storage/open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { POSTGRES_SQL } from '../../service/src/storage/postgres/postgres-sql.ts';
import { offerbook } from '../../service/test/support/command.ts';
import { newPostgresDatabase, stopPostgres } from '../../service/test/support/postgres-server.ts';
import { createPlainDatabase, fillPlainPostgres, fillPlainTransactions } from '../fill.ts';
import { anyNumber, CONNECTIONS, compare, type Load, type Measured, type Series } from '../load.ts';
import { bearer, issueTokens, startOfferbook } from '../offerbook.ts';
import { installPeers, startBare, startPlain } from '../peers.ts';
import { organisationName, seedTransactions, uuidV4, writeHistories } from '../random-transactions.ts';
import { milliseconds, ratio, table, whole } from '../table.ts';
import type { Finding, Report, Run } from '../topic.ts';

const ROWS = 1_000_000;
const END_MS = Date.parse('2026-11-01T00:00:00Z');
const CURSORS = 20_000;
const MINUTE_MS = 60_000;
const MONTH_MS = 30 * 86_400_000;
const LIMIT = 100;
/** As many as the service uses. */
const POSTGRES_CONNECTIONS = 8;

export async function transactions(run: Run): Promise<Report> {
  await installPeers();
  const cursors = join(run.folder, 'cursors.txt');
  const random = new Random('bench', 'cursors');
  const lines = Array.from({ length: CURSORS }, () => `/v1/transactions/?cursor=${uuidV4(random)}`);
  writeFileSync(cursors, lines.join('\n'));
  const polls = join(run.folder, 'polls.txt');
  writeFileSync(polls, Array.from({ length: CURSORS }, () => poll(random)).join('\n'));
  const histories = run.isImported
    ? await writeHistories(run.folder, ROWS, END_MS, new Random('bench', ROWS))
    : undefined;
  const fill = (databaseUrl: string) => fillDatabase(databaseUrl, histories);
  const reports = [
    await fromSqlite(run, fill, cursors, polls),
    await fromPostgres(run, fill, cursors, polls),
  ];
  return {
    findings: reports.flatMap(({ findings }) => findings),
    details: reports.flatMap(({ details }) => details),
  };
}

/** Windows that start between a minute and a month ago; half of the requests are for later pages. */
function poll(random: Random): string {
  const sinceMs = END_MS - MINUTE_MS * (MONTH_MS / MINUTE_MS) ** random.unit();
  const from = random.unit() < 0.5 ? '' : `&cursor=${uuidV4(random)}`;
  return `/v1/transactions/?updatedAtGreaterThan=${printTimestamp(sinceMs)}${from}`;
}

type Fill = (databaseUrl: string) => Promise<{ stores: Stores; orgId: number; token: string }>;

/** Returns the first organisation, which has most of the rows, and a token. Without histories, rows are inserted unsorted. */
async function fillDatabase(
  databaseUrl: string,
  histories: Awaited<ReturnType<typeof writeHistories>> | undefined,
): ReturnType<Fill> {
  await (await openStores(databaseUrl, CREATE_OPTIONS)).close();
  if (histories === undefined) await seedTransactions(databaseUrl, ROWS, END_MS, new Random('bench', ROWS));
  const stores = await openStores(databaseUrl);
  const database = openDatabase(databaseUrl, COMMAND_OPTIONS);
  for (const { org, path } of histories ?? []) {
    await stores.organisations.create(org);
    const { code, stderr } = await offerbook([
      ...['import', 'transactions', path, '--org', org, '--preserve-updated-at'],
      ...['--database', databaseUrl],
    ]);
    if (code !== 0) throw new Error(stderr);
  }
  // Autovacuum does this soon after a bulk insert.
  if (database.sql === POSTGRES_SQL) await database.all('VACUUM ANALYZE');
  await database.close();
  const orgId = (await stores.organisations.find(organisationName(0)))?.id ?? 0;
  return { stores, orgId, token: (await issueTokens(stores, orgId)).private };
}

async function fromSqlite(run: Run, fill: Fill, cursors: string, polls: string): Promise<Report> {
  const path = join(run.folder, 'transactions.db');
  const databaseUrl = `sqlite:${path}`;
  const { stores, orgId, token } = await fill(databaseUrl);
  const plainPath = join(run.folder, 'plain-transactions.db');
  const plainFile = createPlainDatabase(plainPath, [token]);
  await fillPlainTransactions(plainFile, stores, orgId);
  plainFile.close();
  await stores.close();
  await using ours = await startOfferbook(run.folder, databaseUrl);
  await using bare = await startBare(run.folder, 'transactions', path);
  await using plain = await startPlain(run.folder, plainPath, token);
  const measured = await compare(
    {
      'ours, SQLite': pages(ours.url, token, cursors),
      'bare loop over HTTP, SQLite': pages(bare.url, token, cursors),
      'plain implementation, SQLite': pages(plain.url, token, cursors),
      'ours, SQLite, gzip': pages(ours.url, token, cursors, GZIP),
      'plain implementation, SQLite, gzip': pages(plain.url, token, cursors, GZIP),
    },
    run,
  );
  const polled = await compare(
    {
      'ours, SQLite, gzip': pages(ours.url, token, polls, GZIP),
      'plain implementation, SQLite, gzip': pages(plain.url, token, polls, GZIP),
    },
    run,
  );
  const work = 'page of transactions from SQLite';
  return {
    findings: [
      atLeast(
        work,
        measured['ours, SQLite'],
        measured['bare loop over HTTP, SQLite'],
        0.5,
        'times the throughput of a bare loop over HTTP',
      ),
      atLeast(
        `${work}, gzip`,
        measured['ours, SQLite, gzip'],
        measured['plain implementation, SQLite, gzip'],
        2,
        'times the throughput of the plain implementation, gzip',
      ),
      atLeast(
        `${work}, not compressed`,
        measured['ours, SQLite'],
        measured['plain implementation, SQLite'],
        2,
        'times the throughput of the plain implementation, not compressed',
      ),
      atLeast(
        'page of recent changes from SQLite, gzip',
        polled['ours, SQLite, gzip'],
        polled['plain implementation, SQLite, gzip'],
        2,
        'times the throughput of the plain implementation, gzip',
      ),
    ],
    details: [
      pageTable('100 transactions of 1,000,000, at a random cursor', measured),
      pageTable('100 changes since a time between a minute and a month ago', polled),
    ],
  };
}

async function fromPostgres(run: Run, fill: Fill, cursors: string, polls: string): Promise<Report> {
  const databaseUrl = await newPostgresDatabase();
  try {
    const { stores, orgId, token } = await fill(databaseUrl);
    await stores.close();
    await fillPlainPostgres(databaseUrl, orgId, token);
    // The database is a separate process, so no server has a core to itself here.
    await using ours = await startOfferbook(run.folder, databaseUrl, BOTH_CORES);
    await using plain = await startPlain(run.folder, databaseUrl, token, BOTH_CORES);
    const sql = postgres(databaseUrl, { max: POSTGRES_CONNECTIONS });
    const loop = (text: string) => (seconds: number) => bareLoop(sql, text, seconds);
    const measured = await compare(
      {
        'ours, PostgreSQL': pages(ours.url, token, cursors),
        'bare loop, joined in SQL, PostgreSQL': loop(
          `SELECT string_agg(document, ',') FROM (SELECT document FROM transactions WHERE org_id = ${orgId} AND id >= $1 ORDER BY id LIMIT ${LIMIT}) t`,
        ),
        'bare loop, rows, PostgreSQL': loop(
          `SELECT document FROM transactions WHERE org_id = ${orgId} AND id >= $1 ORDER BY id LIMIT ${LIMIT + 1}`,
        ),
        'plain implementation, PostgreSQL': pages(plain.url, token, cursors),
        'ours, PostgreSQL, gzip': pages(ours.url, token, cursors, GZIP),
        'plain implementation, PostgreSQL, gzip': pages(plain.url, token, cursors, GZIP),
      },
      run,
    );
    await sql.end();
    const polled = await compare(
      {
        'ours, PostgreSQL, gzip': pages(ours.url, token, polls, GZIP),
        'plain implementation, PostgreSQL, gzip': pages(plain.url, token, polls, GZIP),
      },
      run,
    );
    const loops = [measured['bare loop, rows, PostgreSQL'], measured['bare loop, joined in SQL, PostgreSQL']];
    const best = loops.reduce((a, b) => (a.requestsPerS > b.requestsPerS ? a : b));
    return {
      findings: [
        atLeast(
          'page of transactions from PostgreSQL',
          measured['ours, PostgreSQL'],
          best,
          0.7,
          'times the throughput of the best bare loop without HTTP',
        ),
        atLeast(
          'page of transactions from PostgreSQL, gzip',
          measured['ours, PostgreSQL, gzip'],
          measured['plain implementation, PostgreSQL, gzip'],
          2,
          'times the throughput of the plain implementation, gzip',
        ),
        atLeast(
          'page of transactions from PostgreSQL, not compressed',
          measured['ours, PostgreSQL'],
          measured['plain implementation, PostgreSQL'],
          2,
          'times the throughput of the plain implementation, not compressed',
        ),
        atLeast(
          'page of recent changes from PostgreSQL, gzip',
          polled['ours, PostgreSQL, gzip'],
          polled['plain implementation, PostgreSQL, gzip'],
          2,
          'times the throughput of the plain implementation, gzip',
        ),
      ],
      details: [
        pageTable('100 transactions of 1,000,000, at a random cursor', measured),
        pageTable('100 changes since a time between a minute and a month ago', polled),
      ],
    };
  } finally {
    await stopPostgres();
  }
}

/** Requests pages one after the other on each connection. */
async function bareLoop(sql: postgres.Sql, text: string, seconds: number): Promise<Measured> {
  const random = new Random('bench', anyNumber());
  const durationsMs: number[] = [];
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const walk = async () => {
    while (performance.now() < endMs) {
      const pageStartedMs = performance.now();
      await sql.unsafe(text, [uuidV4(random)], { prepare: true });
      durationsMs.push(performance.now() - pageStartedMs);
    }
  };
  await Promise.all(Array.from({ length: POSTGRES_CONNECTIONS }, walk));
  const sorted = durationsMs.toSorted((a, b) => a - b);
  return {
    requestsPerS: (durationsMs.length * 1000) / (performance.now() - startedMs),
    p50Ms: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failed: 0,
  };
}

const BOTH_CORES = { cores: '0,1' };
/** The encoding that most clients request by default. */
const GZIP = { 'Accept-Encoding': 'gzip' };

function pages(url: string, token: string, cursors: string, headers: Record<string, string> = {}): Load {
  return {
    url,
    headers: bearer(token, headers),
    file: ['paths', cursors],
    connections: CONNECTIONS,
  };
}

function atLeast(work: string, ours: Series, other: Series, factor: number, name: string): Finding {
  const value = ours.timesAsFastAs(other);
  // The plain implementation can be too slow to answer a single request within a round.
  const measured = Number.isFinite(value)
    ? ratio(value)
    : `${whole(ours.requestsPerS)} instead of ${whole(other.requestsPerS)} per second`;
  return { work, target: `at least ${factor} ${name}`, measured, met: value >= factor };
}

function pageTable(what: string, measured: Readonly<Record<string, Series>>): string {
  const rows = Object.entries(measured).map(([name, series]) => [
    ...[name, whole(series.requestsPerS), `${whole(series.slowest)} – ${whole(series.fastest)}`],
    ...[milliseconds(series.p99Ms), String(series.failed)],
  ]);
  return table([what, 'pages/s', 'slowest – fastest', 'p99', 'failed'], rows);
}
