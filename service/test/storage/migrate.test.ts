import { describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError, type StorageErrorKind } from '../../src/domain/storage-error.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { inspectDatabase } from '../../src/storage/inspect-database.ts';
import { COMMAND_OPTIONS, openStores, READ_OPTIONS } from '../../src/storage/open-stores.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { versionOf } from '../../src/storage/schema/schema.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { openTestStores, rejection, TEST_AUDITOR } from './open-test-stores.ts';
import { startProcess } from './other-process.ts';

const VERSION = versionOf(SQLITE_MAIN);

for (const database of DATABASES) {
  describe(`the schema on ${database.name}`, () => {
    const open = openTestStores();

    test('ten processes that open an empty database at the same time create its tables once, and all succeed', async () => {
      const url = await database.createEmpty();
      const processes = Array.from({ length: 10 }, () => startProcess('open', url));
      const outcomes = await Promise.all(processes.map((each) => each.rest()));

      expect(outcomes).toEqual(
        Array.from({ length: 10 }, () => ({
          reports: [{ catalogue: 0, tokens: 0, activation: 0, webhooks: 0 }],
          exitCode: 0,
        })),
      );
      const rows = await open.database(url).all('SELECT version FROM schema_version');
      expect(rows).toEqual([{ version: VERSION }]);
    });

    test('a database without a declared index or with a changed column is rejected by everything that opens it', async () => {
      const url = await database.createEmpty();
      await (await openStores(url, { ...COMMAND_OPTIONS, create: true })).close();
      const raw = open.database(url);
      // The operator may add tables and indexes.
      await raw.all('CREATE TABLE more (id bigint)');
      await raw.all('CREATE INDEX more_audit ON audit (made_by)');
      await (await openStores(url)).close();
      await raw.all('DROP INDEX audit_by_time');
      await raw.all('ALTER TABLE tokens ADD COLUMN more integer');
      const found = [];
      for (const attempt of [
        () => openStores(url),
        () => openStores(url, READ_OPTIONS),
        () => migrate(raw, TEST_AUDITOR),
        async () => copyDatabase(url, await database.createEmpty(), TEST_AUDITOR),
      ])
        found.push(await rejection(attempt()));
      const facts = await inspectDatabase(url, Date.now);
      expect(facts.schema).toMatchObject({ state: 'unusable', version: VERSION });
      const message = `the database ${await raw.describePlace()} does not have the tables of schema version ${VERSION}: audit lacks INDEX audit_by_time (at), tokens has more integer; undo this change, or restore a backup`;
      expect([...found.map((error) => error.message), facts.schema.problem]).toEqual(
        Array.from({ length: 5 }, () => message),
      );
    });

    test('a database of a development version is rejected, and the error names the version that can export it', async () => {
      const url = await database.createEmpty();
      await open.stores(url);
      const raw = open.database(url);
      await raw.all('DROP TABLE links');
      const advice = [];
      for (const version of [1, 4, 6]) {
        await raw.all('UPDATE schema_version SET version = $1', version);
        advice.push((await rejection(openStores(url))).message.replace(/^.*cannot be upgraded; /, ''));
      }
      expect(advice).toEqual([
        'upgrade it to 0.1.0 first, with offerbook copy of commit 756fdd18, or export it with the version that created it',
        'upgrade it to 0.1.0 first, with offerbook copy of commit 756fdd18, or export it with the version that created it',
        'upgrade it to 0.1.0 first, with offerbook migrate of commit 756fdd18, or export it with the version that created it',
      ]);
    });

    test('a database that a newer program upgrades while this program waits for the lock is rejected and not changed', async () => {
      const url = await database.createEmpty();
      await open.stores(url);
      const raw = open.database(url);
      const own = open.database(url);
      const { schema } = own;
      const next = { ...schema, steps: [...schema.steps, ['CREATE TABLE next_version (id INTEGER)']] };

      const error = await rejection(
        migrate(
          {
            ...own,
            async write(work, lockTimeoutMs) {
              await raw.write((connection) =>
                connection.all('UPDATE schema_version SET version = 999, oldest_version = 999'),
              );
              return own.write(work, lockTimeoutMs);
            },
          },
          TEST_AUDITOR,
          next,
        ),
      );

      expect(error).toMatchObject({ kind: 'too new' });
      expect(error.message).toContain(' has schema version 999, created by a newer Offerbook');
      expect(await raw.all('SELECT version FROM schema_version')).toEqual([{ version: 999 }]);
    });
  });
}

describe('an unusable database URL', () => {
  const malformed =
    'the database URL is malformed; it must look like postgres://user:password@host:5432/name';
  const scheme = 'the database URL must be sqlite:PATH or postgres://…';
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'folder'));
  const notes = 'These are my notes. '.repeat(1000);
  writeFileSync(join(folder, 'notes.txt'), notes);
  writeFileSync(join(folder, 'root.pem'), 'not a certificate');

  test.each<[url: string, kind: StorageErrorKind, message: string]>([
    ['', 'settings', scheme],
    ['offerbook.db', 'settings', scheme],
    ['sqlite:', 'settings', scheme],
    ['mysql://root:secret@localhost/x', 'settings', scheme],
    ['http://localhost/', 'settings', scheme],
    [
      'sqlite::memory:',
      'settings',
      'the database must be a file, because several connections cannot share an in-memory database',
    ],
    [
      `sqlite:${folder}/notes.txt`,
      'invalid',
      `${folder}/notes.txt is not an Offerbook database: it is not an SQLite file`,
    ],
    [`sqlite:${folder}/folder`, 'denied', `${folder}/folder cannot be opened: it is a folder, not a file`],
    [
      `sqlite:${folder}/missing/offerbook.db`,
      'denied',
      `${folder}/missing/offerbook.db cannot be opened: the folder ${folder}/missing does not exist`,
    ],
    ['postgres://user:hunter2@host:port/name', 'settings', malformed],
    ['postgres://user:hunter%2@host/name', 'settings', malformed],
    ['postgresql://user:hunter2@[::1/name', 'settings', malformed],
  ])('the URL %p is rejected with a one-sentence message', async (url, kind, message) => {
    expect(await rejection(openStores(url))).toMatchObject({ kind, message });
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe(notes);
  });

  const tls = `?sslmode=verify-full&sslrootcert=${join(folder, 'root.pem')}`;
  const rejected = 'PostgreSQL rejected the connection:';
  test.each<[what: string, change: Partial<URL>, kind: StorageErrorKind, message: string]>([
    [
      'a wrong password',
      { password: 'hunter2' },
      'denied',
      `${rejected} password authentication failed for user "postgres"`,
    ],
    [
      'a missing database',
      { pathname: '/nowhere' },
      'denied',
      `${rejected} database "nowhere" does not exist`,
    ],
    [
      'an invalid root certificate',
      { search: tls },
      'settings',
      'the sslrootcert, sslcert or sslkey file named in the database URL is not valid PEM',
    ],
  ])('%s of PostgreSQL is rejected with a one-sentence message', async (_, change, kind, message) => {
    const url = Object.assign(new URL(await newPostgresDatabase()), change);
    expect(await rejection(openStores(url.href))).toMatchObject({ kind, message });
  });

  test('a search_path without a schema is rejected, with or without the create option', async () => {
    const url = `${await newPostgresDatabase()}?search_path=nowhere`;
    for (const create of [false, true])
      expect(await rejection(openStores(url, { ...COMMAND_OPTIONS, create }))).toBeInstanceOf(StorageError);
  });
});
