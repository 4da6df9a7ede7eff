// offerbook migrate: creates the tables of a database or upgrades them, also those of an old release, which takes time and needs
// all servers stopped.

import type { Database } from './database.ts';
import { openDatabase, sqlitePath } from './open-database.ts';
import { closing } from './open-once.ts';
import { CREATE_OPTIONS, prepareSchema } from './open-stores.ts';
import { upgradePostgres } from './postgres/upgrade-postgres.ts';
import { findSchema, type Migration } from './schema/migrate.ts';
import { hasOldFile, upgradeSqlite } from './sqlite/upgrade-sqlite.ts';
import type { Auditor } from './stores/audit-log.ts';

export async function upgradeDatabase(
  url: string,
  auditor: Auditor,
  onRows: (rows: number, total: number) => void = () => {},
): Promise<Migration> {
  const path = sqlitePath(url);
  const found = await withDatabase(url, async (database) => {
    const found = await findSchema(database);
    if (found?.state === 'released' && path === undefined) await upgradePostgres(database, auditor, onRows);
    return found;
  });
  if (found !== undefined && path !== undefined && hasOldFile(path))
    await upgradeSqlite({ path, found, auditor, onRows });
  const migration = await withDatabase(url, (database) =>
    prepareSchema(url, database, CREATE_OPTIONS, auditor),
  );
  return found === undefined ? migration : { ...migration, from: found.version };
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  await using database = closing(openDatabase(url, CREATE_OPTIONS));
  return await work(database);
}
