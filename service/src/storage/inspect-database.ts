// What can be seen of a database without changing it, for `offerbook doctor`. Nothing is created or migrated. On SQLite,
// it takes the write lock for a moment to see whether it is free.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AccessToken } from '../domain/access-token.ts';
import type { ImportEntry, ImportFeed } from '../domain/books.ts';
import type { Clock } from '../domain/clock.ts';
import { isStorageError } from '../domain/storage-error.ts';
import { openSpoolFile } from './click-spool.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { CLICK_END, openDatabase, sqlitePath } from './open-database.ts';
import { closing } from './open-once.ts';
import { DRY_RUN_OPTIONS, READ_OPTIONS } from './open-stores.ts';
import { inspectPostgres, type PostgresFacts } from './postgres/inspect-postgres.ts';
import { findSchemaState } from './schema/migrate.ts';
import { SCHEMAS, versionOf } from './schema/schema.ts';
import type { Auditor } from './stores/audit-book.ts';
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
  readonly books: BookFacts | undefined;
  /** For the name of the spool; undefined as above. */
  readonly clickKey: string | undefined;
  readonly postgres: PostgresFacts | undefined;
  /** Those of SQLite that are there. */
  readonly files: readonly FileFacts[];
}

interface BookFacts {
  readonly tokens: readonly AccessToken[];
  readonly feeds: readonly ImportFeed[];
  readonly writeLock: WriteLockFacts;
}

export interface WriteLockFacts {
  /** Undefined if this user may not write. */
  readonly isHeld: boolean | undefined;
  /** Imports without an end in the log, the newest first: they run, wait for the lock, or were killed. */
  readonly openImports: readonly ImportEntry[];
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
    books: schema.state === 'current' ? await inspectBooks(url, database, auditor) : undefined,
    clickKey: schema.state === 'current' ? await readClickKey(database).catch(() => undefined) : undefined,
    postgres: database.dialect === 'postgres' ? await inspectPostgres(database, clock) : undefined,
    files: inspectFiles(sqlitePath(url)),
  };
}

async function inspectBooks(url: string, database: Database, auditor: Auditor): Promise<BookFacts> {
  const imports = importBook(database, auditor.clock);
  return {
    tokens: (await tokenStore(database, auditor).list()).tokens,
    feeds: (await imports.totals()).feeds,
    writeLock: {
      isHeld: await isWriteLockHeld(url, database),
      openImports: await imports.list({ outcome: 'begun', limit: OPEN_IMPORTS_MAX }),
    },
  };
}

const OPEN_IMPORTS_MAX = 5;

/** SELECT … FOR UPDATE holds this lock on the table until its transaction ends. Imports lock rows of these tables. */
const LOCKED_SQL = `SELECT pid FROM pg_locks
  WHERE relation IN ('organisations'::regclass, 'revisions'::regclass) AND mode = 'RowShareLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`;

async function isWriteLockHeld(url: string, database: Database): Promise<boolean | undefined> {
  if (database.dialect === 'postgres') return (await database.all(LOCKED_SQL)).length > 0;
  await using writable = closing(openDatabase(url, { ...DRY_RUN_OPTIONS, lockTimeoutMs: 0 }));
  return writable
    .write(async () => false)
    .catch((error: unknown) => (isStorageError(error, 'busy') ? true : undefined));
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
