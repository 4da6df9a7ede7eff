// Connections through PgBouncer: session mode works as docs/operations/databases.md describes, and other modes are rejected
// with a message that names the setting to change.

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { offerbook } from '../support/command.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { lacks } from '../support/programs.ts';
import { TestNode } from '../support/test-node.ts';

const DOCUMENT = join(import.meta.dir, '..', '..', '..', 'docs', 'operations', 'databases.md');

test.skipIf(lacks('pgbouncer'))(
  'with PgBouncer in session mode and the documented settings, pages are read and changes are noticed',
  async () => {
    await using pool = await startPgBouncer(await newPostgresDatabase());
    await using node = await TestNode.start({ databaseUrl: pool.url, database: SERVER_OPTIONS });
    const [publicToken, privateToken] = [await node.token('public'), await node.token('private')];
    const first = retailer(1, { cashbackOffers: [offer(1)] });
    await node.catalogue([first]);
    await node.transactions([transaction(1), transaction(2), transaction(3)]);
    expect(await (await node.get('/v1/retailers/', publicToken)).json()).toMatchObject({ data: [{}] });
    const read = async (from: string): Promise<number> => {
      const path = `/v1/transactions/?limit=1&updatedAtGreaterThan=2020-01-01${from}`;
      const response = await node.get(path, privateToken);
      expect(response.status).toBe(200);
      const { data, cursor } = (await response.json()) as { data: unknown[]; cursor?: string };
      return data.length + (cursor === undefined ? 0 : await read(`&cursor=${cursor}`));
    };
    expect(await Promise.all(Array.from({ length: 10 }, () => read('')))).toEqual(Array(10).fill(3));
    await node.catalogue([first, retailer(2, { cashbackOffers: [offer(2)] })]);
    expect(await (await node.get('/v1/retailers/', publicToken)).json()).toMatchObject({ data: [{}, {}] });
  },
);

test('the documented role settings replace the connection settings that PgBouncer drops', async () => {
  const url = await newPostgresDatabase();
  await using sql = new SQL(url);
  const settings = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^ALTER ROLE offerbook SET (\w+) = (.+);$/gm)];
  expect(settings.length).toBe(7);
  const [, ignored = ''] = /^ignore_startup_parameters = (.*)$/m.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  const own = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count'];
  const lost = ['statement_timeout', 'synchronous_commit'];
  const named = settings.map(([, name = '']) => name);
  expect(ignored.split(', ').sort()).toEqual([...own, ...lost, ...named].sort());
  // PostgreSQL accepts the settings.
  for (const [, name, value] of settings) await sql.unsafe(`SET ${name} = ${value}`);
});

const createOrganisation = ({ url }: PgBouncer) =>
  offerbook(['orgs', 'create', 'acme'], { env: { OFFERBOOK_DATABASE_URL: url } });

test.skipIf(lacks('pgbouncer'))(
  'PgBouncer without the documented settings is rejected with exit code 2, and no schema is created',
  async () => {
    const databaseUrl = await newPostgresDatabase();
    await using pool = await startPgBouncer(databaseUrl, { ignore_startup_parameters: undefined });
    expect(await createOrganisation(pool)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "offerbook: the connection pooler rejects our connection settings (unsupported startup parameter: tcp_keepalives_idle); list them in PgBouncer's ignore_startup_parameters\n",
    });
    await using sql = new SQL(databaseUrl);
    const tables = await sql.unsafe(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    expect([...tables]).toEqual([]);
  },
);

test.skipIf(lacks('pgbouncer'))(
  'with PgBouncer in transaction mode, a command exits with code 2 and prints what to change',
  async () => {
    await using pool = await startPgBouncer(await newPostgresDatabase(), { pool_mode: 'transaction' });
    expect(await createOrganisation(pool)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'offerbook: the connection pooler is in transaction mode; use session mode (PgBouncer: pool_mode = session)\n',
    });
  },
);
