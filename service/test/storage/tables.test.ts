// The declarations of the tables are complete: what is derived from them covers every table of a database.

import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { newUuid } from '@offerbook/wire/uuid.ts';
import { sqlitePath } from '../../src/storage/open-database.ts';
import { ownerOf } from '../../src/storage/schema/table.ts';
import { ALL_TABLES, CLICK_TABLES, MAIN_TABLES, WALK_TABLES } from '../../src/storage/schema/tables.ts';
import { DATABASES } from '../support/databases.ts';
import { fillEveryColumn } from './fill-every-column.ts';
import { EVERYTHING, newOrganisation, openTestStores } from './open-test-stores.ts';

const names = (tables: readonly { name: string }[]) => tables.map(({ name }) => name).sort();

test('every column that can hold data of a user is declared personal', () => {
  const isSuspect = (name: string) => /^(document|user_key|sub_id|passback_\w+)$/.test(name);
  const silent = ALL_TABLES.flatMap((table) =>
    Object.keys(table.columns)
      .filter((name) => isSuspect(name) && !table.personal?.includes(name))
      .map((name) => `${table.name}.${name}`),
  );
  // Documents of other tables are about retailers, imports and pulls. A lost walk does no harm, and erasures delete walks.
  expect(silent.sort()).toEqual([
    'imports.document',
    'pull_streams.document',
    'retailers.document',
    'walks.user_key',
  ]);
});

describe.each(DATABASES)('on $name', (database) => {
  const open = openTestStores();

  test('a new database has exactly the declared tables', async () => {
    const { url, stores } = await open.scene(database);
    const path = sqlitePath(url);
    if (path === undefined) {
      const sql = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()';
      expect(names(await open.database(url).all(sql))).toEqual(names(ALL_TABLES));
      return;
    }
    // Opens the files beside the database.
    await stores.clicks.list(1);
    await stores.walks.begin({ tokenId: newUuid(), window: EVERYTHING, passbackUid: undefined }, 1);
    const tablesIn = (file: string) => {
      using opened = new SqliteFile(file, { readonly: true });
      const sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
      return names(opened.query<{ name: string }, []>(sql).all());
    };
    expect(tablesIn(path)).toEqual(names(MAIN_TABLES));
    expect(tablesIn(`${path}-activations`)).toEqual(names(CLICK_TABLES));
    expect(tablesIn(`${path}-walks`)).toEqual(names(WALK_TABLES));
  });

  test('the deletion of an organisation leaves none of its rows in any table', async () => {
    const { url, stores, org: gone } = await open.scene(database);
    const kept = await newOrganisation(stores, 'kept');
    const opened = open.database(url);
    for (const { id } of [gone, kept]) await fillEveryColumn(opened, id);
    const count = async (orgId: number) => {
      const counts = await Promise.all(
        MAIN_TABLES.filter((table) => ownerOf(table) !== undefined).map(async (table) => {
          const sql = `SELECT 1 FROM ${table.name} WHERE ${ownerOf(table)} = $1`;
          return (await opened.all(sql, orgId)).map(() => table.name);
        }),
      );
      return counts.flat();
    };
    const before = await count(kept.id);
    await stores.organisations.delete(gone.name, { revokesTokens: true, reloadMs: 0 });
    expect(await count(gone.id)).toEqual([]);
    expect(await count(kept.id)).toEqual(before);
    expect(before.length).toBeGreaterThan(10);
  });
});
