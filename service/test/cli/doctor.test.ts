// doctor with real databases, ports and spools: its findings, its exit codes, and that it changes nothing.

import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { databaseName } from '../../src/activation/activation-directory.ts';
import { examine } from '../../src/cli/doctor/examine.ts';
import { spoolPath } from '../../src/cli/node/activation.ts';
import { readServeSettings } from '../../src/config.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { newOrganisation, openTestStores, TEST_AUDITOR } from '../storage/open-test-stores.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { retailer, transaction } from '../support/fixtures.ts';
import { localServer } from '../support/local-server.ts';
import { removePostgres, startReplica } from '../support/postgres-replica.ts';
import { freePort, newPostgresDatabase, postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';

const look = async (databaseUrl: string, flags: Record<string, string> = {}) => {
  const settings = readServeSettings({ port: '0', spool: temporaryFolder(), ...flags }, {});
  const checks = await examine({ settings, databaseUrl, clock: systemClock });
  return new Map(checks.map((check) => [check.check, check]));
};

describe.each(DATABASES)('doctor on $name', ({ name, create, createEmpty }) => {
  const open = openTestStores();

  test('reports every check correctly while a server without imported data is running', async () => {
    await using node = await TestNode.start({ databaseUrl: await create() });
    await node.token('public');
    const { port } = new URL(node.url);
    const found = await look(node.databaseUrl, { port });
    const states = Object.fromEntries([...found].map(([check, { state }]) => [check, state]));
    expect(states).toEqual({
      database: 'ok',
      schema: 'ok',
      rights: 'ok',
      clock: 'ok',
      // The PostgreSQL of the tests has no WAL archive.
      backup: name === 'SQLite' ? 'ok' : 'warning',
      ...(name === 'SQLite' ? {} : { failover: 'ok' }),
      'import of catalogue': 'warning',
      'import of links': 'ok',
      'import of transactions': 'warning',
      'write lock': 'ok',
      tokens: 'ok',
      disk: 'ok',
      clicks: 'ok',
      'open files': expect.any(String),
      port: 'ok',
      proxies: 'ok',
    });
    expect(found.get('port')?.found).toBe(`${port} on 127.0.0.1 is used by a running Offerbook server`);
  });

  test('neither creates nor migrates a database', async () => {
    const url = await createEmpty();
    const faults = [...(await look(url)).values()].filter(({ state }) => state === 'fault');
    expect(faults).toEqual([
      expect.objectContaining({
        found: name === 'SQLite' ? expect.stringContaining('there is no') : 'missing',
      }),
    ]);
    if (name === 'SQLite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);

    const raw = open.database(url);
    await migrate(raw, TEST_AUDITOR);
    await raw.all('UPDATE schema_version SET version = version - 1');
    const before = await raw.all('SELECT version FROM schema_version');
    expect((await look(url)).get('schema')).toMatchObject({ state: 'fault' });
    expect(await raw.all('SELECT version FROM schema_version')).toEqual(before);
    await raw.all('UPDATE schema_version SET version = 99, oldest_version = 99');
    expect((await look(url)).get('schema')).toMatchObject({ state: 'fault' });
  });

  test('reports an import that holds the write lock, and an import that was killed', async () => {
    const url = await create();
    const stores = await open.stores(url);
    const org = await newOrganisation(stores);
    const lock = async () => (await look(url)).get('write lock');
    expect(await lock()).toEqual({ check: 'write lock', state: 'ok', found: 'free' });
    const origin = { kind: 'transactions', orgId: org.id, by: 'me', source: null } as const;
    const importId = await stores.imports.begin({ ...origin, fileName: 'f', version: '1' });
    const entry =
      /import 1, transactions of "acme" by me, began 0 minutes ago, at [\d:T.-]+ and has not ended$/;
    await stores.transactions.write(
      org.id,
      async ({ finishImport }) => {
        expect(await lock()).toMatchObject({ state: 'ok', found: expect.stringMatching(entry) });
        expect((await lock())?.found).toStartWith('held: ');
        await finishImport({
          counts: { read: 0, added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0, invalid: 0 },
          fileDigest: null,
          problems: [],
          problemCount: 0,
          reason: null,
        });
      },
      importId,
    );
    expect((await lock())?.found).toBe('free');
    expect((await look(url)).get('import of transactions')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^of "acme" succeeded 0 minutes ago/),
    });
    await stores.imports.begin({ ...origin, fileName: 'f', version: '1' });
    expect((await lock())?.found).toStartWith('free; import 2, transactions of "acme" by me, began ');
  });

  test('reports clicks waiting in the spool, and a spool that is not a folder', async () => {
    const url = await create();
    const stores = await open.stores(url);
    const org = await newOrganisation(stores);
    const folder = temporaryFolder();
    const path = spoolPath(folder, url, databaseName(await stores.clickKey()));
    const spool = openSpool(() => path);
    await spool.put([await recordClick(stores, org.id)]);
    await spool.close();
    expect((await look(url, { spool: folder })).get('clicks')).toEqual({
      check: 'clicks',
      state: 'warning',
      found: '1 click waiting in the spool',
      advice: 'start a server with this --spool to record them',
    });
    chmodSync(path, 0o644);
    expect((await look(url, { spool: folder })).get('clicks')).toEqual({
      check: 'clicks',
      state: 'fault',
      found: `${path} is accessible to other users; check its clicks, then run: chmod 600 ${path}`,
      advice: 'make the spool usable; until then clicks are lost while the database is unreachable',
    });
    expect((await look(url, { spool: path })).get('clicks')).toEqual({
      check: 'clicks',
      state: 'fault',
      found: `${path} is not a writable folder (ENOTDIR)`,
      advice:
        'choose another folder with --spool; until then clicks are lost while the database is unreachable',
    });
  });
});

test('doctor distinguishes a port used by Offerbook from a port that is used by another program or unavailable', async () => {
  const url = `sqlite:${join(temporaryFolder(), 'none.db')}`;
  await using other = localServer(() => Response.json({ status: 'live?' }));
  const [taken, free] = [String(other.port), String(await freePort())];
  const found = await look(url, { port: free, adminPort: taken });
  expect([found.get('port')?.state, found.get('admin port')?.state]).toEqual(['ok', 'fault']);
  const elsewhere = await look(url, { host: '192.0.2.1', port: free });
  expect(elsewhere.get('port')).toMatchObject({ state: 'fault' });
  const publicUrl = `http://127.0.0.1:${taken}`;
  expect((await look(url, { publicUrl })).get('public URL')?.state).toBe('warning');
});

test('doctor finds the standby among several servers in --replica-url', async () => {
  const primary = await startPostgres(['-c', 'fsync=off']);
  try {
    const url = postgresUrl(primary.port, 'postgres');
    await offerbook(['orgs', 'create', 'acme', '--database', url]);
    const standby = await startReplica(primary);
    try {
      const replicaUrl = url.replace('@', `@127.0.0.1:${standby.port},`);
      expect((await look(url, { replicaUrl })).get('replica')).toEqual({
        state: 'ok',
        check: 'replica',
        found: expect.stringContaining('PostgreSQL'),
      });
    } finally {
      await removePostgres(standby);
    }
  } finally {
    await removePostgres(primary);
  }
});

test("doctor reports a PostgreSQL role's missing permissions, and a primary used as a replica", async () => {
  const url = await newPostgresDatabase();
  await offerbook(['orgs', 'create', 'acme', '--database', url]);
  const { SQL } = await import('bun');
  const admin = new SQL(url);
  const role = `reader_${Math.floor(Math.random() * 1e9)}`;
  await admin.unsafe(
    `CREATE ROLE ${role} LOGIN PASSWORD 'pa55word'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`,
  );
  const as = new URL(url);
  [as.username, as.password] = [role, 'pa55word'];
  const found = await look(as.href, { replicaUrl: url });
  expect(found.get('rights')).toMatchObject({ state: 'warning' });
  expect(found.get('rights')?.found).toContain('cannot write audit, clicks,');
  expect(found.get('replica')).toMatchObject({ state: 'warning' });
  expect(JSON.stringify([...found.values()])).not.toContain('pa55word');
  await admin.unsafe(`REVOKE SELECT ON taps FROM ${role}`);
  expect((await look(as.href)).get('rights')).toMatchObject({ state: 'fault' });
  await admin.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await admin.close();
});

test('doctor exits 1 for a fault, 0 for warnings by default, and 2 for settings that serve rejects', async () => {
  const cwd = temporaryFolder();
  const port = String(await freePort());
  const doctor = (...args: string[]) => offerbook(['doctor', '--port', port, ...args], { cwd });
  expect((await doctor()).code).toBe(1);
  expect(readdirSync(cwd)).toEqual([]);
  await offerbook(['import', 'catalogue', '-'], { cwd, stdin: JSON.stringify(retailer(1)) });
  const warned = await doctor('--json');
  expect(warned).toMatchObject({ code: 0, stderr: '' });
  const report = JSON.parse(warned.stdout) as { state: string; checks: { check: string; state: string }[] };
  expect(report.state).toBe('warning');
  expect(report.checks.find(({ check }) => check === 'import of catalogue')?.state).toBe('ok');
  expect((await doctor('--strict')).code).toBe(1);

  await offerbook(['orgs', 'create', 'acme'], { cwd });
  await offerbook(['tokens', 'issue', '--org', 'acme', '--kind', 'public'], { cwd });
  const stdin = JSON.stringify(transaction(1));
  await offerbook(['import', 'transactions', '-', '--org', 'acme'], { cwd, stdin });
  const fine = await doctor('--strict');
  expect(fine.stdout).not.toContain('What to do');
  expect(fine.code).toBe(0);
  chmodSync(join(cwd, 'offerbook.db'), 0o644);
  const words = (await doctor()).stdout;
  expect(words).toContain('\nWhat to do\n  rights: run: chmod 600 ');
  const refusals = await Promise.all([
    doctor('--public-url', 'nonsense'),
    doctor('--admin-port', '1', '--admin-token-file', '/nope'),
    doctor('--replica-url', 'postgres://x@127.0.0.1:1/x'),
    offerbook(['doctor'], { cwd, env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'notaurl' } }),
  ]);
  expect(refusals.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
    [2, '', expect.stringContaining('--public-url must be a URL without a path')],
    [2, '', 'offerbook: --admin-token-file /nope cannot be read (ENOENT)\n'],
    [2, '', 'offerbook: --replica-url needs a PostgreSQL database: SQLite has no replicas\n'],
    [2, '', 'offerbook: OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://localhost:4318\n'],
  ]);
});
