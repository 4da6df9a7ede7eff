// Databases that released versions have written, and programs of two versions on one database.

import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LAST_ID, newUuid } from '@offerbook/wire/uuid.ts';
import type { AccessToken } from '../../src/domain/access-token.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { inspectDatabase } from '../../src/storage/inspect-database.ts';
import { openDatabase, sqlitePath } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores, READ_OPTIONS } from '../../src/storage/open-stores.ts';
import { POSTGRES_SCHEMA } from '../../src/storage/postgres/postgres-schema.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { type Schema, versionOf } from '../../src/storage/schema/schema.ts';
import { ALL_TABLES } from '../../src/storage/schema/tables.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { upgradeDatabase } from '../../src/storage/upgrade-database.ts';
import { type Fixture, loadRelease } from '../fixtures/load-release.ts';
import { type ReleaseContents, readContents } from '../fixtures/release-contents.ts';
import { DATABASES, SQLITE, temporaryFolder } from '../support/databases.ts';
import { SmallDisk } from '../support/small-disk.ts';
import {
  EVERYTHING,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  TEST_AUDITOR,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';
import { startProcess } from './other-process.ts';

const CHANGELOG = join(import.meta.dir, '..', '..', '..', 'CHANGELOG.md');
/** While the walks of the fixtures last. */
const NOW_MS = Date.parse('2026-11-15T12:30:00Z');
/** The releases in the changelog, and the development version from which databases are upgraded too. */
const RELEASES = [
  ...[...readFileSync(CHANGELOG, 'utf8').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(
    ([, version]) => `v${version}`,
  ),
  '6036a2ab',
];

/** A release's export, converted to this version's format. */
function asExported({ label = '', ...contents }: ReleaseContents & { readonly label?: string }) {
  const { tokens, links, imports, revisions, webhooks = [], pulls = [], requests = [] } = contents;
  const isEnded = ({ revokedAtMs }: AccessToken) => revokedAtMs !== null && revokedAtMs <= NOW_MS;
  return {
    ...contents,
    tokens: tokens.map((token) =>
      'overlapEndsAtMs' in token
        ? token
        : {
            ...(token as AccessToken),
            revokedAtMs: isEnded(token) ? (token as AccessToken).revokedAtMs : null,
            overlapEndsAtMs: isEnded(token) ? null : (token as AccessToken).revokedAtMs,
          },
    ),
    links: links.map((link) => ({ domains: [], ...link })),
    imports: imports.map((entry) => ({ ...entry, counts: Object.assign({ stale: 0 }, entry.counts) })),
    revisions: Object.assign({ webhooks: 0 }, revisions),
    webhooks: webhooks.map((webhook) => {
      const { watermarkMs, behindSinceMs: _, ...rest } = webhook as typeof webhook & { watermarkMs?: number };
      const position = { positionMs: watermarkMs, positionId: LAST_ID, sendingSinceMs: rest.createdAtMs };
      return watermarkMs === undefined ? rest : { ...rest, ...position };
    }),
    pulls: pulls.map((pull) => Object.assign({ attemptMs: null, tryingSinceMs: null }, pull)),
    requests,
    // 0.1.0 had no totals; they are verified below.
    totals: label === '0.1.0' ? undefined : contents.totals,
  };
}

async function expectContents(stores: Stores, { expected }: Fixture, isUpgraded: boolean): Promise<void> {
  const { audit, ...found } = await readContents(stores);
  const { audit: auditBefore, totals = found.totals, ...before } = asExported(expected);
  expect({ ...found, webhooks: found.webhooks.map(({ behindSinceMs: _, ...webhook }) => webhook) }).toEqual({
    ...before,
    totals,
  } as typeof found);
  expect(await stores.totals.verify()).toEqual([]);
  expect(audit.slice(isUpgraded ? 1 : 0)).toEqual(auditBefore);
  const [acme] = await stores.organisations.list();
  if (acme === undefined) throw new Error('acme is missing');
  expect(await stores.erasures.count(acme.id, 'changed')).toMatchObject({ transactions: 0, versions: 1 });
  expect((await stores.history.findByPassbackUid('changed again')).count).toBe(1);
  await stores.transactions.write(acme.id, async ({ erasedAtMs }) => {
    expect(erasedAtMs('user-3')).toBeNumber();
  });
  const { feeds } = await stores.imports.totals();
  expect(feeds.filter(({ kind }) => kind === 'transactions')).toMatchObject([
    { orgName: 'acme', source: 'awin', lastOutcome: 'refused' },
    { orgName: 'globex', source: null, lastOutcome: 'done' },
  ]);
  if (before.pulls.length > 0) expect(await stores.pulls.rowsOf('awin:1', ['s1'])).toHaveLength(1);
}

for (const database of DATABASES) {
  describe(`upgrading an earlier release's database on ${database.name}`, () => {
    const open = openTestStores();
    const auditor = { clock: () => NOW_MS, by: 'test' };
    const openNow = (url: string) => open.stores(url, COMMAND_OPTIONS, () => NOW_MS);

    for (const release of RELEASES) {
      test(`a database of ${release} keeps all of its contents`, async () => {
        const fixture = await loadRelease(database, release);
        const { from, to } = await upgradeDatabase(fixture.url, auditor);
        // Refuses other tables than the declared ones: a declaration that changes needs a new step.
        const stores = await openNow(fixture.url);
        await expectContents(stores, fixture, from !== to);
        expect(await upgradeDatabase(fixture.url, auditor)).toEqual({ from: to, to });
        // New rows do not get the numbers of old ones, not even that of the import of a deleted organisation.
        expect(await newOrganisation(stores, 'initech')).toMatchObject({ name: 'initech' });
        const origin = { by: 'me', source: null, fileName: 'links.ndjson', version: '1' };
        const last = Math.max(...fixture.expected.imports.map(({ id }) => id));
        const next = await stores.imports.begin({ kind: 'links', orgId: null, ...origin });
        if (from !== to) expect(next).toBe(last + 2);
      });
    }

    test('until migrate has upgraded an old database, everything else refuses it and changes nothing', async () => {
      const fixture = await loadRelease(database, 'v0.1.0');
      const { url } = fixture;
      const facts = await inspectDatabase(url, Date.now);
      expect(facts.schema).toMatchObject({ state: 'released', version: 7 });
      const empty = await database.createEmpty();
      for (const attempt of [
        () => openStores(url),
        () => openStores(url, READ_OPTIONS),
        () => copyDatabase(url, empty, auditor),
      ])
        expect(await rejection(attempt())).toMatchObject({ kind: 'outdated' });
      await upgradeDatabase(url, auditor);
      await expectContents(await openNow(url), fixture, true);
    });

    test('an upgrade that is killed at any moment can be repeated', async () => {
      const fixture = await loadRelease(database, 'v0.1.0');
      let wasKilled = 0;
      for (let round = 0; round < 8; round++) {
        const child = startProcess('migrate', fixture.url);
        await child.next();
        await Bun.sleep(Math.random() * 2 ** round);
        child.child.kill('SIGKILL');
        if ((await child.rest()).exitCode !== 0) wasKilled += 1;
      }
      expect(wasKilled).toBeGreaterThan(0);
      await upgradeDatabase(fixture.url, auditor);
      await expectContents(await openNow(fixture.url), fixture, true);
    });

    test('an upgrade is refused while a server uses the database', async () => {
      const { url } = await loadRelease(database, 'v0.1.0');
      const server = open.database(url);
      await server.all('SELECT name, value FROM revisions');
      expect(await rejection(upgradeDatabase(url, auditor))).toMatchObject({ kind: 'busy' });
      expect(await server.all('SELECT version FROM schema_version')).toEqual([{ version: 7 }]);
    });
  });

  describe(`two versions side by side on ${database.name}`, () => {
    const open = openTestStores();
    const schema = database.name === 'SQLite' ? SQLITE_MAIN : POSTGRES_SCHEMA;
    /** The next version's schema: one more column, which this version does not read. */
    const next: Schema = {
      ...schema,
      tables: schema.tables.map((table) =>
        table.name === 'audit' ? { ...table, columns: { ...table.columns, added: 'integer?' } } : table,
      ),
      steps: [...schema.steps, ['ALTER TABLE audit ADD COLUMN added INTEGER']],
    };
    const nextAlone = { ...next, oldestVersion: versionOf(next) };
    const query = { window: EVERYTHING, limit: 10 };

    test('an older program can keep running and be restarted while the newer schema allows it', async () => {
      const url = await database.createEmpty();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      const [from, to] = [versionOf(schema), versionOf(next)];
      expect(await migrate(open.database(url), TEST_AUDITOR, next)).toEqual({ from, to });

      await writeTransactions(running, orgId, newIds(2));
      expect(await running.revisions()).toEqual({ catalogue: 0, tokens: 0, activation: 1, webhooks: 0 });
      const started = await open.stores(url);
      expect(textsOf(await started.transactions.page({ ...query, orgId }))).toHaveLength(2);
      // The newer program does not create its tables again.
      expect(await migrate(open.database(url), TEST_AUDITOR, next)).toEqual({ from: to, to });
    });

    test('an older program reports a schema that it cannot use, changes nothing, and serves no transactions', async () => {
      const url = await database.createEmpty();
      const running = await open.stores(url);
      const { id: orgId } = await newOrganisation(running);
      await migrate(open.database(url), TEST_AUDITOR, nextAlone);

      const message = `the database was upgraded to schema version ${versionOf(next)} by a newer version of Offerbook; upgrade this program too`;
      for (const attempt of [
        () => running.revisions(),
        () => running.transactions.page({ ...query, orgId }),
      ]) {
        expect(await rejection(attempt())).toMatchObject({ kind: 'too new', message: message });
      }
      expect(await rejection(openStores(url))).toMatchObject({
        kind: 'too new',
        message: `the database ${await open.database(url).describePlace()} has schema version ${versionOf(next)}, created by a newer Offerbook; this one supports up to version ${versionOf(schema)}`,
      });
      expect(await open.database(url).all('SELECT version, oldest_version FROM schema_version')).toEqual([
        { version: versionOf(next), oldest_version: versionOf(next) },
      ]);
    });
  });
}

test.skipIf(!(await SmallDisk.canMount()))(
  'an upgrade without enough space on the disk is refused before it starts',
  async () => {
    const { url } = await loadRelease(SQLITE, 'v0.1.0');
    await using disk = await SmallDisk.mount(1);
    const path = join(disk.folder, 'offerbook.db');
    copyFileSync(sqlitePath(url) ?? '', path);
    // SQLite needs some space for its log and the index of the log, even to look at the database.
    writeFileSync(join(disk.folder, 'filling'), new Uint8Array(2 ** 20 - statSync(path).size - 200_000));
    const error = await rejection(upgradeDatabase(`sqlite:${path}`, TEST_AUDITOR));
    expect(error).toMatchObject({ kind: 'full' });
    expect(error.message).toMatch(/^the upgrade needs 1 MB on the disk with .*; nothing was changed$/);
    expect(readdirSync(disk.folder).sort()).toEqual(['filling', 'offerbook.db']);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'an upgrade by root keeps the owner and the mode of the files',
  async () => {
    const { url } = await loadRelease(SQLITE, 'v0.1.0');
    const files = ['', '-activations', '-walks'].map((end) => `${sqlitePath(url)}${end}`);
    for (const file of files) {
      chownSync(file, 65_534, 65_534);
      chmodSync(file, 0o640);
    }
    await upgradeDatabase(url, TEST_AUDITOR);
    for (const file of files)
      expect(statSync(file)).toMatchObject({ uid: 65_534, gid: 65_534, mode: 0o100640 });
  },
);

test('an old click file beside a database that is already upgraded is upgraded too', async () => {
  const { url, expected } = await loadRelease(SQLITE, 'v0.1.0');
  const clicks = `${sqlitePath(url)}-activations`;
  await upgradeDatabase(url, TEST_AUDITOR);
  renameSync(`${clicks}.before-0.2.0`, clicks);
  await upgradeDatabase(url, TEST_AUDITOR);
  const stores = await openStores(url);
  expect(await stores.clicks.list(100)).toEqual(expected.clicks);
  await stores.close();
});

test('a spool of an earlier release keeps its clicks, also those that were rejected', async () => {
  const path = join(temporaryFolder(), 'spool.db');
  const fixture = await loadRelease(SQLITE, '6036a2ab');
  renameSync(`${sqlitePath(fixture.url)}-activations`, path);
  chmodSync(path, 0o600);
  {
    using old = new SqliteFile(path);
    old.run(
      'CREATE TABLE rejected_clicks (id TEXT, passback_uid TEXT, deal_id TEXT, reason TEXT NOT NULL) STRICT',
    );
    old.run("INSERT INTO rejected_clicks (id, reason) VALUES ('x', 'it is forged')");
  }
  const spool = openSpool(() => path);
  expect(await spool.list(100)).toEqual(fixture.expected.clicks);
  await spool.close();
  using file = new SqliteFile(path);
  expect(file.query('SELECT id, reason FROM rejected_clicks').values()).toEqual([['x', 'it is forged']]);
});

test.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))(
  'on $name, an upgrade keeps the owner and the rights of other roles, and is refused to a role that does not own the tables',
  async (database) => {
    const { url } = await loadRelease(database, 'v0.1.0');
    const [owner, reader] = [1, 2].map((n) => `role_${n}_${newUuid().replaceAll('-', '')}`);
    await using admin = closing(openDatabase(url, COMMAND_OPTIONS));
    for (const role of [owner, reader]) await admin.all(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`);
    await admin.all(`GRANT CREATE ON SCHEMA public TO ${owner}`);
    const tables = await admin.all<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    for (const { name } of tables) await admin.all(`ALTER TABLE ${name} OWNER TO ${owner}`);
    await admin.all(`GRANT SELECT ON transactions TO ${reader}`);
    const asReader = new URL(url);
    asReader.username = reader ?? '';
    await admin.all(`GRANT SELECT ON schema_version TO ${reader}`);
    const refused = await rejection(upgradeDatabase(asReader.href, TEST_AUDITOR));
    expect(refused.message).toStartWith(
      `this role cannot upgrade the tables, which belong to the role ${owner}; connect as that role`,
    );
    await admin.all('CREATE VIEW report AS SELECT count(*) FROM transactions');
    expect((await rejection(upgradeDatabase(url, TEST_AUDITOR))).message).toStartWith(
      'views use the tables: report; drop them',
    );
    await admin.all('DROP VIEW report');
    await upgradeDatabase(url, TEST_AUDITOR);
    const rights = await admin.all(
      `SELECT tableowner AS owner, has_table_privilege('${reader}', tablename, 'SELECT') AS readable, count(*) AS tables
         FROM pg_tables WHERE schemaname = 'public' GROUP BY 1, 2 ORDER BY 3`,
    );
    expect(rights).toEqual([
      { owner, readable: true, tables: 2 },
      { owner, readable: false, tables: ALL_TABLES.length - 2 },
    ]);
  },
);
