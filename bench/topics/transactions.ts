// Measures pages of transactions from random cursors in a million rows, on both databases. The tables are filled as if row by
// row, so neighbouring ids are scattered.

import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import postgres from 'postgres';
import { openStores } from '../../service/src/storage/open-stores.ts';
import { createPlainDatabase, fillPlainTransactions } from '../fill.ts';
import { newDatabase } from '../folder.ts';
import { anyNumber, CONNECTIONS, compare, type Load, type Measured, pathsFile } from '../load.ts';
import { BOTH_CORES, bearer, GZIP, issueTokens, startOfferbook } from '../offerbook.ts';
import { installPeers, startBare, startPlain } from '../peers.ts';
import { END_MS, organisationName, seedTransactions, uuidV4 } from '../random-transactions.ts';
import { percentile } from '../table.ts';
import { atLeast, type Report, type Run, seriesTable } from '../topic.ts';

const ROWS = 1_000_000;
const MINUTE_MS = 60_000;
const MONTH_MS = 30 * 86_400_000;
const LIMIT = 100;
/** As many as the service uses. */
const POSTGRES_CONNECTIONS = 8;

export async function transactions(run: Run): Promise<Report> {
  await installPeers();
  const random = new Random('bench', 'cursors');
  const paths: Paths = {
    cursors: pathsFile(run.folder, 'cursors', () => `/v1/transactions/?cursor=${uuidV4(random)}`),
    polls: pathsFile(run.folder, 'polls', () => poll(random)),
  };
  const reports = [await fromSqlite(run, paths), await fromPostgres(run, paths)];
  return {
    findings: reports.flatMap(({ findings }) => findings),
    details: reports.flatMap(({ details }) => details),
  };
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

const PAGES = '100 transactions of 1,000,000, at a random cursor';
const CHANGES = '100 changes since a time between a minute and a month ago';

async function fromSqlite(run: Run, { cursors, polls }: Paths): Promise<Report> {
  const path = join(run.folder, 'transactions.db');
  const { stores, orgId, token } = await fill(`sqlite:${path}`);
  const plainPath = join(run.folder, 'plain-transactions.db');
  const plainFile = createPlainDatabase(plainPath, [token]);
  await fillPlainTransactions(plainFile, stores, orgId);
  plainFile.close();
  await stores.close();
  await using ours = await startOfferbook(run.folder, `sqlite:${path}`);
  await using bare = await startBare(run.folder, 'transactions', path);
  await using plain = await startPlain(run.folder, plainPath, token);
  const load = ({ url }: { readonly url: string }, paths: string, headers = {}): Load => ({
    ...{ url, headers: bearer(token, headers), paths, connections: CONNECTIONS },
  });
  const pages = await compare(
    {
      'ours, SQLite': load(ours, cursors),
      'bare loop over HTTP, SQLite': load(bare, cursors),
      'plain implementation, SQLite': load(plain, cursors),
      'ours, SQLite, gzip': load(ours, cursors, GZIP),
      'plain implementation, SQLite, gzip': load(plain, cursors, GZIP),
    },
    run,
  );
  const changes = await compare(
    {
      'ours, SQLite, gzip': load(ours, polls, GZIP),
      'plain implementation, SQLite, gzip': load(plain, polls, GZIP),
    },
    run,
  );
  const [work, plainName] = ['page of transactions from SQLite', 'the plain implementation'];
  const [uncompressed, compressed] = [pages['ours, SQLite'], pages['ours, SQLite, gzip']];
  return {
    findings: [
      atLeast(work, uncompressed, pages['bare loop over HTTP, SQLite'], 0.5, 'a bare loop over HTTP'),
      atLeast(
        `${work}, gzip`,
        ...([compressed, pages['plain implementation, SQLite, gzip'], 2, `${plainName}, gzip`] as const),
      ),
      atLeast(
        `${work}, not compressed`,
        ...([
          uncompressed,
          pages['plain implementation, SQLite'],
          2,
          `${plainName}, not compressed`,
        ] as const),
      ),
      atLeast(
        'page of recent changes from SQLite, gzip',
        changes['ours, SQLite, gzip'],
        changes['plain implementation, SQLite, gzip'],
        ...([2, `${plainName}, gzip`] as const),
      ),
    ],
    details: [seriesTable(PAGES, pages), seriesTable(CHANGES, changes)],
  };
}

async function fromPostgres(run: Run, { cursors, polls }: Paths): Promise<Report> {
  const databaseUrl = await newDatabase('postgres', run.folder);
  const { stores, orgId, token } = await fill(databaseUrl);
  await stores.close();
  // The database is a separate process, so no server has a core to itself here.
  await using ours = await startOfferbook(run.folder, databaseUrl, { cores: BOTH_CORES });
  const sql = postgres(databaseUrl, { max: POSTGRES_CONNECTIONS });
  const load = (paths: string, headers = {}): Load => ({
    ...{ url: ours.url, headers: bearer(token, headers), paths, connections: CONNECTIONS },
  });
  const rows = (limit: number) =>
    `SELECT document FROM transactions WHERE org_id = ${orgId} AND id >= $1 ORDER BY id LIMIT ${limit}`;
  const joined = `SELECT string_agg(document, ',') FROM (${rows(LIMIT)}) t`;
  const pages = await compare(
    {
      'ours, PostgreSQL': load(cursors),
      'bare loop, joined in SQL, PostgreSQL': (seconds: number) => bareLoop(sql, joined, seconds),
      'bare loop, rows, PostgreSQL': (seconds: number) => bareLoop(sql, rows(LIMIT + 1), seconds),
      'ours, PostgreSQL, gzip': load(cursors, GZIP),
      'ours, PostgreSQL, recent changes, gzip': load(polls, GZIP),
    },
    run,
  );
  await sql.end();
  const loops = [pages['bare loop, rows, PostgreSQL'], pages['bare loop, joined in SQL, PostgreSQL']];
  const best = loops.reduce((a, b) => (a.requestsPerS > b.requestsPerS ? a : b));
  return {
    findings: [
      atLeast(
        'page of transactions from PostgreSQL',
        ...([pages['ours, PostgreSQL'], best, 0.7, 'the best bare loop without HTTP'] as const),
      ),
    ],
    details: [seriesTable(PAGES, pages)],
  };
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
