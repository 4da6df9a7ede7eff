// Collects facts about a database for `offerbook doctor`. Does not create or migrate anything. On SQLite, briefly acquires the
// write lock to check whether it is free.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AccessToken } from '../domain/access-token.ts';
import type { Clock } from '../domain/clock.ts';
import type { ImportEntry, ImportFeed } from '../domain/import-log.ts';
import type { PullState } from '../domain/pull.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { WebhookStatus } from '../domain/webhook.ts';
import { openSpoolFile } from './click-spool.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { CLICK_END, openDatabase, sqlitePath } from './open-database.ts';
import { closing } from './open-once.ts';
import { READ_OPTIONS } from './open-stores.ts';
import { inspectFailovers } from './postgres/failovers.ts';
import { inspectPostgres } from './postgres/inspect-postgres.ts';
import { type FoundSchema, findSchema } from './schema/migrate.ts';
import { versionOf } from './schema/schema.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import type { Auditor } from './stores/audit-log.ts';
import { readClickKey } from './stores/erased-users.ts';
import { importLog } from './stores/import-log.ts';
import { pullStore } from './stores/pull-store.ts';
import { tokenStore } from './stores/token-store.ts';
import { webhookStore } from './stores/webhook-store.ts';

const OPTIONS: DatabaseOptions = {
  ...READ_OPTIONS,
  lockTimeoutMs: 0,
  statementTimeoutMs: 5_000,
  connectionsMax: 1,
};

export type DatabaseFacts = Awaited<ReturnType<typeof inspectDatabase>>;

/** What both `doctor` and a server read. */
export interface ContentFacts {
  readonly tokens: readonly AccessToken[];
  readonly feeds: readonly ImportFeed[];
  readonly webhooks: readonly WebhookStatus[];
  readonly pulls: readonly PullState[];
  readonly openImports: readonly ImportEntry[];
  /** Undefined if unknown. */
  readonly isWriteLockHeld?: boolean | undefined;
}

export interface SchemaFacts {
  readonly state: 'none' | FoundSchema['state'] | 'unusable';
  readonly version: number;
  /** Latest schema version that this program supports. */
  readonly known: number;
  /** Why this program cannot use the database, if the state is `unusable`. */
  readonly problem?: string;
}

export type FileFacts = ReturnType<typeof inspectFiles>[number];

/** Throws a StorageError if the database is unreachable. */
export async function inspectDatabase(url: string, clock: Clock, role: DatabaseOptions['role'] = 'primary') {
  await using database = closing(openDatabase(url, { ...OPTIONS, role }));
  const path = sqlitePath(url);
  const schema = await inspectSchema(database);
  const isCurrent = schema.state === 'current';
  const [last] =
    schema.state === 'none'
      ? []
      : await database.all<{ stamp: number | null }>('SELECT max(last_stamp) AS stamp FROM organisations');
  return {
    place: await database.describePlace(),
    schema,
    /** Latest stamp across all organisations; null if there are no organisations. */
    lastStampMs: last?.stamp ?? null,
    /** This and the click key are undefined unless the schema is current. */
    contents: isCurrent ? await inspectContents(database, { clock, by: 'doctor' }) : undefined,
    /** Part of the spool's name. */
    clickKey: isCurrent ? await readClickKey(database).catch(() => undefined) : undefined,
    postgres: path === undefined ? await inspectPostgres(database, clock) : undefined,
    /** Undefined on SQLite, or unless the schema is current. */
    failovers:
      isCurrent && path === undefined ? await inspectFailovers(database).catch(() => undefined) : undefined,
    files: path === undefined ? [] : inspectFiles(path),
  };
}

async function inspectContents(database: Database, auditor: Auditor): Promise<ContentFacts> {
  const imports = importLog(database, auditor.clock);
  return {
    tokens: (await tokenStore(database, auditor).list()).tokens,
    feeds: (await imports.totals()).feeds,
    webhooks: await webhookStore(database, auditor).list(),
    pulls: await pullStore(database, auditor.clock).list(),
    openImports: await imports.listOpen(),
    isWriteLockHeld: await database.isWriteLockHeld(),
  };
}

/** Maximum number of damaged places listed per file. */
const DAMAGE_MAX = 10;

/** Reads every page of an SQLite database and its click file. Returns undefined for PostgreSQL. */
export async function findFileProblems(url: string): Promise<string[] | undefined> {
  const path = sqlitePath(url);
  if (path === undefined) return undefined;
  const files = [path, path + CLICK_END].filter((file) => file === path || existsSync(file));
  return (await Promise.all(files.map(checkFile))).flat();
}

async function checkFile(path: string): Promise<string[]> {
  try {
    await using file = closing(openSqlite(path, OPTIONS));
    const rows = await file.all<Record<string, string>>(`PRAGMA integrity_check(${DAMAGE_MAX})`);
    // A row may contain several lines.
    const lines = rows.flatMap((row) => Object.values(row).flatMap((text) => text.split('\n')));
    return lines
      .filter((line) => line !== 'ok')
      .slice(0, DAMAGE_MAX)
      .map((line) => `${path}: ${line}`);
  } catch (error) {
    if (!isStorageError(error)) throw error;
    return [error.message];
  }
}

/** Counts the clicks in a spool. Returns 0 if there is no spool, or only an empty file left by a killed server. */
export async function countSpooled(path: string): Promise<number> {
  if (!existsSync(path) || statSync(path).size === 0) return 0;
  await using spool = closing(await openSpoolFile(path, OPTIONS));
  const [row] = await spool.all<{ count: number }>('SELECT count(*) AS count FROM clicks');
  return row?.count ?? 0;
}

async function inspectSchema(database: Database): Promise<SchemaFacts> {
  const known = versionOf(database.schema);
  try {
    const found = await findSchema(database);
    if (found === undefined) return { state: 'none', version: 0, known };
    return { ...found, known };
  } catch (error) {
    if (!isStorageError(error, 'too new', 'invalid')) throw error;
    const [row] = await database.all<{ version: number }>('SELECT version FROM schema_version');
    return { state: 'unusable', version: row?.version ?? 0, known, problem: error.message };
  }
}

/** The existing files of an SQLite database. */
function inspectFiles(path: string) {
  return ['', '-wal', CLICK_END].flatMap((end) => {
    const file = `${path}${end}`;
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return {
      path: file,
      bytes: stat.size,
      /** Permission bits. */
      mode: stat.mode & 0o777,
      /** True if this user can write both the file and its folder (SQLite creates -wal and -shm there). */
      isWritable: mayWrite(file) && mayWrite(dirname(file)),
    };
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
