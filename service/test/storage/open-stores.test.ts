// Opening a database: which commands create it, the error if it is missing, and waiting for a schema upgrade.

import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageError } from '../../src/domain/storage-error.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { SCHEMA_LOCK } from '../../src/storage/postgres/postgres.ts';
import { temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { until } from '../support/until.ts';
import {
  EVERYTHING,
  idOf,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  writeTransactions,
} from './open-test-stores.ts';

const open = openTestStores();

describe('opening a missing database', () => {
  test.each([
    ['a missing SQLite database is not created', []],
    ['an empty SQLite file counts as a missing database and stays empty', ['offerbook.db']],
  ])('%s', async (_, files) => {
    const folder = temporaryFolder();
    const path = join(folder, 'offerbook.db');
    for (const name of files) writeFileSync(join(folder, name), '');
    expect(await rejection(openStores(`sqlite:${path}`))).toEqual(
      new StorageError('missing', `there is no Offerbook database at ${path}`),
    );
    expect(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size])).toEqual(
      files.map((name) => [name, 0]),
    );
  });

  test('a missing PostgreSQL schema is not created, and the error does not contain the password', async () => {
    const url = await newPostgresDatabase();
    const name = new URL(url).pathname.slice(1);
    const place = `in the schema "public" of the PostgreSQL database "${name}"`;
    // Twice, to check that the first attempt created nothing.
    for (let times = 0; times < 2; times++) {
      expect(await rejection(openStores(url))).toEqual(
        new StorageError('missing', `there is no Offerbook database ${place}`),
      );
    }
  });
});

test.each([false, true])(
  "another program's SQLite database is rejected and not changed, with or without the create option: %p",
  async (create) => {
    const path = join(temporaryFolder(), 'other.db');
    const other = new SqliteFile(path);
    other.run('CREATE TABLE notes (text TEXT)');
    other.close();
    const before = readFileSync(path);
    expect(await rejection(openStores(`sqlite:${path}`, { ...COMMAND_OPTIONS, create }))).toEqual(
      new StorageError('invalid', `${path} is not an Offerbook database: it has another program's tables`),
    );
    expect(readFileSync(path).equals(before)).toBeTrue();
    expect(readdirSync(dirname(path))).toEqual(['other.db']);
  },
);

test('a new SQLite database and its companion files are readable only by the owner', async () => {
  const path = join(temporaryFolder(), 'offerbook.db');
  const stores = await open.stores(`sqlite:${path}`, { ...SERVER_OPTIONS });
  const { id: orgId } = await newOrganisation(stores);
  await writeTransactions(stores, orgId, newIds(3));
  await stores.walks.begin({ tokenId: idOf(1), window: EVERYTHING }, 1);
  const modes = readdirSync(dirname(path)).map((name) => [
    name,
    (statSync(join(dirname(path), name)).mode & 0o777).toString(8),
  ]);
  expect(modes.sort()).toEqual([
    ['offerbook.db', '600'],
    ['offerbook.db-shm', '600'],
    ['offerbook.db-wal', '600'],
    ['offerbook.db-walks', '600'],
    ['offerbook.db-walks-shm', '600'],
    ['offerbook.db-walks-wal', '600'],
  ]);
});

describe('an SQLite database with several names', () => {
  /** A link to a file that does not exist yet, a link to that link, and a path through a link to the folder. */
  function names() {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'disk'));
    symlinkSync('disk/real.db', join(folder, 'offerbook.db'));
    symlinkSync('offerbook.db', join(folder, 'second.db'));
    symlinkSync('disk', join(folder, 'data'));
    const [link, second, real] = ['offerbook.db', 'second.db', 'disk/real.db'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    return { link, real, all: [second, link, join(folder, 'data/real.db'), real] };
  }

  test('an SQLite database opened through any of its names has one click file, next to the real file', async () => {
    const { link, real, all } = names();
    const made = await open.stores(`sqlite:${link}`);
    const { id } = await newOrganisation(made);
    const click = await recordClick(made, id);
    for (const path of all) {
      const stores = await openStores(`sqlite:${path}`);
      expect((await stores.clicks.list(10)).map((each) => each.id)).toEqual([click.id]);
      await stores.close();
    }
    await made.close();
    expect(readdirSync(dirname(link)).sort()).toEqual(['data', 'disk', 'offerbook.db', 'second.db']);
    expect(readdirSync(dirname(real)).sort()).toEqual(['real.db', 'real.db-activations']);
  });
});

describe('a server that upgrades the PostgreSQL schema', () => {
  const STATEMENT_TIMEOUT_MS = 500;
  const options = { ...SERVER_OPTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS };

  test('a server waits for another process that is upgrading the schema', async () => {
    const url = await newPostgresDatabase();
    const raw = open.database(url);
    const opening = await raw.write(async (connection) => {
      await connection.all('SELECT pg_advisory_xact_lock($1)', SCHEMA_LOCK);
      const begun = open.stores(url, options);
      begun.catch(() => {});
      const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND waitstart < clock_timestamp() - interval '${2 * STATEMENT_TIMEOUT_MS} ms'`;
      const other = open.database(url);
      await until(async () => (await other.all(waiting)).length > 0);
      return { begun };
    });
    expect(await (await opening.begun).revisions()).toEqual({
      catalogue: 0,
      tokens: 0,
      activation: 0,
      webhooks: 0,
    });
  });
});
