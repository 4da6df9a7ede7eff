// What can be seen of a database without changing it, for `offerbook doctor`. Nothing is made, migrated or locked.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AccessToken } from '../domain/access-token.ts';
import type { ImportTotals } from '../domain/books.ts';
import type { Clock } from '../domain/clock.ts';
import { isStorageError } from '../domain/storage-error.ts';
import { openSpoolFile } from './click-spool.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { CLICK_END, openDatabase, sqlitePath } from './open-database.ts';
import { closing } from './open-once.ts';
import { READ_OPTIONS } from './open-stores.ts';
import { inspectPostgres, type PostgresFacts } from './postgres/inspect-postgres.ts';
import { findSchemaState } from './schema/migrate.ts';
import { SCHEMAS, versionOf } from './schema/schema.ts';
import { importBook } from './stores/import-book.ts';
import { readClickKey } from './stores/secret.ts';
import { tokenStore } from './stores/token-store.ts';

const OPTIONS: DatabaseOptions = {
  ...READ_OPTIONS,
  lockTimeoutMs: 0,
  statementTimeoutMs: 5_000,
  connectionsMax: 1,
};

export interface DatabaseFacts {
  readonly dialect: Database['dialect'];
  readonly place: string;
  readonly schema: SchemaFacts;
  /** The greatest stamp of all organisations; null when there are none. */
  readonly lastStampMs: number | null;
  /** Undefined when the schema is not this program's. */
  readonly books: { readonly tokens: readonly AccessToken[]; readonly imports: ImportTotals } | undefined;
  /** For the name of the spool; undefined as above. */
  readonly clickKey: string | undefined;
  readonly postgres: PostgresFacts | undefined;
  /** Those of SQLite that are there. */
  readonly files: readonly FileFacts[];
}

export interface SchemaFacts {
  readonly state: 'none' | 'unreleased' | 'old' | 'current' | 'too new';
  readonly version: number;
  /** That of this program. */
  readonly known: number;
}

export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  /** The bits of who may read and write. */
  readonly mode: number;
  /** By this user, and so is its folder: SQLite makes files beside it. */
  readonly isWritable: boolean;
}

/** Throws a StorageError when the database, of several servers the one with this role, cannot be reached. */
export async function inspectDatabase(
  url: string,
  clock: Clock,
  role: DatabaseOptions['role'] = 'primary',
): Promise<DatabaseFacts> {
  await using database = closing(openDatabase(url, { ...OPTIONS, role }));
  const schema = await inspectSchema(database);
  const isOurs = schema.state !== 'none';
  const [last] = isOurs
    ? await database.all<{ stamp: number | null }>('SELECT max(last_stamp) AS stamp FROM organisations')
    : [];
  const auditor = { clock, by: 'doctor' };
  return {
    dialect: database.dialect,
    place: await database.describePlace(),
    schema,
    lastStampMs: last?.stamp ?? null,
    books:
      schema.state === 'current'
        ? {
            tokens: (await tokenStore(database, auditor).list()).tokens,
            imports: await importBook(database, clock).totals(),
          }
        : undefined,
    clickKey: schema.state === 'current' ? await readClickKey(database).catch(() => undefined) : undefined,
    postgres: database.dialect === 'postgres' ? await inspectPostgres(database, clock) : undefined,
    files: inspectFiles(sqlitePath(url)),
  };
}

/** How many clicks wait in a spool; 0 when there is none, or one that was not finished when its server was killed. */
export async function countSpooled(path: string): Promise<number> {
  if (!existsSync(path) || statSync(path).size === 0) return 0;
  await using spool = closing(await openSpoolFile(path, OPTIONS));
  const [row] = await spool.all<{ count: number }>('SELECT count(*) AS count FROM clicks');
  return row?.count ?? 0;
}

async function inspectSchema(database: Database): Promise<SchemaFacts> {
  const known = versionOf(SCHEMAS[database.dialect]);
  const state = await findSchemaState(database).catch((error: unknown): 'too new' => {
    if (isStorageError(error, 'too new')) return 'too new';
    throw error;
  });
  if (state === 'none') return { state, version: 0, known };
  const [row] = await database.all<{ version: number }>('SELECT version FROM schema_version');
  return { state, version: row?.version ?? 0, known };
}

function inspectFiles(path: string | undefined): FileFacts[] {
  if (path === undefined) return [];
  return ['', '-wal', CLICK_END].flatMap((end) => {
    const stat = statSync(`${path}${end}`, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const file = `${path}${end}`;
    const isWritable = mayWrite(file) && mayWrite(dirname(file));
    return [{ path: file, bytes: stat.size, mode: stat.mode & 0o777, isWritable }];
  });
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
