// Measures pages of transactions from random cursors in a million rows, on both databases. The tables are filled as if row by
// row, so neighbouring ids are scattered.

import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import postgres from 'postgres';
import { openStores } from '../../service/src/storage/open-stores.ts';
import { createPlainDatabase, fillPlainTransactions } from '../fill.ts';
import { newDatabase } from '../folder.ts';
import { anyNumber, compare, type Load, type Measured, pathsFile } from '../load.ts';
import { BOTH_CORES, bearer, GZIP, issueTokens, startOfferbook } from '../offerbook.ts';
import { installPeers, startBare, startPlain } from '../peers.ts';
import { END_MS, organisationName, seedTransactions, uuidV4 } from '../random-transactions.ts';
import { percentile } from '../table.ts';
import { atLeast, type Finding, type Run } from '../topic.ts';

const ROWS = 1_000_000;
const MONTH_MS = 30 * DAY_MS;
const LIMIT = 100;
/** As many as the service uses. */
const POSTGRES_CONNECTIONS = 8;
const PAGES = '100 transactions of 1,000,000, at a random cursor';
const CHANGES = '100 changes since a time between a minute and a month ago';

export async function transactions(run: Run): Promise<Finding[]> {
  await installPeers();
  const random = new Random('bench', 'cursors');
  const paths: Paths = {
    cursors: pathsFile(run.folder, 'cursors', () => `/v1/transactions/?cursor=${uuidV4(random)}`),
    polls: pathsFile(run.folder, 'polls', () => poll(random)),
  };
  return [...(await fromSqlite(run, paths)), ...(await fromPostgres(run, paths))];
}

type Paths = Record<'cursors' | 'polls', string>;

/** Windows that start between a minute and a month ago; half of the requests are for later pages. */
function poll(random: Random): string {
  const sinceMs = END_MS - MINUTE_MS * (MONTH_MS / MINUTE_MS) ** random.unit();
  const from = random.unit() < 0.5 ? '' : `&cursor=${uuidV4(random)}`;
  return `/v1/transactions/?updatedAtGreaterThan=${printTimestamp(sinceMs)}${from}`;
}

/** Returns the stores, the first organisation, which has most of the rows, and a token. */
async function fill(databaseUrl: string) {
  await seedTransactions(databaseUrl, ROWS, new Random('bench', ROWS));
  const stores = await openStores(databaseUrl);
  const orgId = (await stores.organisations.find(organisationName(0)))?.id ?? 0;
  return { stores, orgId, token: (await issueTokens(stores, orgId)).private };
}

async function fromSqlite(run: Run, { cursors, polls }: Paths): Promise<Finding[]> {
  const path = join(run.folder, 'transactions.db');
  const { stores, orgId, token } = await fill(`sqlite:${path}`);
  const plainPath = join(run.folder, 'plain-transactions.db');
  const plainFile = createPlainDatabase(plainPath, [token]);
  await stores.close();
  fillPlainTransactions(plainFile, path, orgId);
  plainFile.close();
  await using ours = await startOfferbook(run.folder, `sqlite:${path}`);
  await using bare = await startBare(run.folder, 'transactions', path);
  await using plain = await startPlain(run.folder, plainPath, token);
  const load = ({ url }: { readonly url: string }, paths: string, headers = {}): Load => ({
    ...{ url, headers: bearer(token, headers), paths },
  });
  const [us, usGzip] = ['ours, SQLite', 'ours, SQLite, gzip'] as const;
  const [them, themGzip] = ['plain implementation, SQLite', 'plain implementation, SQLite, gzip'] as const;
  const loop = 'bare loop over HTTP, SQLite';
  const pages = await compare(
    PAGES,
    {
      [us]: load(ours, cursors),
      [loop]: load(bare, cursors),
      [them]: load(plain, cursors),
      [usGzip]: load(ours, cursors, GZIP),
      [themGzip]: load(plain, cursors, GZIP),
    },
    run,
  );
  const changes = await compare(
    CHANGES,
    { [usGzip]: load(ours, polls, GZIP), [themGzip]: load(plain, polls, GZIP) },
    run,
  );
  const work = 'page of transactions from SQLite';
  const recent = 'page of recent changes from SQLite, gzip';
  return [
    atLeast(work, pages[us], pages[loop], 0.5, 'a bare loop over HTTP'),
    atLeast(`${work}, gzip`, pages[usGzip], pages[themGzip], 2, 'the plain implementation, gzip'),
    atLeast(`${work}, not compressed`, pages[us], pages[them], 2, 'the plain implementation, not compressed'),
    atLeast(recent, changes[usGzip], changes[themGzip], 2, 'the plain implementation, gzip'),
  ];
}

async function fromPostgres(run: Run, { cursors, polls }: Paths): Promise<Finding[]> {
  const databaseUrl = await newDatabase('postgres', run.folder);
  const { stores, orgId, token } = await fill(databaseUrl);
  await stores.close();
  // The database is a separate process, so no server has a core to itself here.
  await using ours = await startOfferbook(run.folder, databaseUrl, { cores: BOTH_CORES });
  const sql = postgres(databaseUrl, { max: POSTGRES_CONNECTIONS });
  const load = (paths: string, headers = {}): Load => ({
    ...{ url: ours.url, headers: bearer(token, headers), paths },
  });
  const rows = (limit: number) =>
    `SELECT document FROM transactions WHERE org_id = ${orgId} AND id >= $1 ORDER BY id LIMIT ${limit}`;
  const joined = `SELECT string_agg(document, ',') FROM (${rows(LIMIT)}) t`;
  const us = 'ours, PostgreSQL';
  const [inSql, byRow] = ['bare loop, joined in SQL, PostgreSQL', 'bare loop, rows, PostgreSQL'] as const;
  const pages = await compare(
    PAGES,
    {
      [us]: load(cursors),
      [inSql]: (seconds: number) => bareLoop(sql, joined, seconds),
      [byRow]: (seconds: number) => bareLoop(sql, rows(LIMIT + 1), seconds),
      'ours, PostgreSQL, gzip': load(cursors, GZIP),
      'ours, PostgreSQL, recent changes, gzip': load(polls, GZIP),
    },
    run,
  );
  await sql.end();
  const best = pages[byRow].requestsPerS > pages[inSql].requestsPerS ? pages[byRow] : pages[inSql];
  const work = 'page of transactions from PostgreSQL';
  return [atLeast(work, pages[us], best, 0.7, 'the best bare loop without HTTP')];
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
  return {
    requestsPerS: (durationsMs.length * 1000) / (performance.now() - startedMs),
    p99Ms: percentile(durationsMs, 0.99),
    failed: 0,
  };
}
