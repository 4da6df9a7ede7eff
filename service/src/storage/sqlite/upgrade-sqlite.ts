// Upgrades the files of an old SQLite database. New files are written to a folder beside the old ones, while exclusive locks keep
// servers out, and then take their places. The rename of the main file is last and completes the upgrade: if the process is
// killed before it, the old database is unchanged or the upgrade can be repeated. The old files keep a second name, so that
// going back is a rename.

import type { Database as SqliteFile } from 'bun:sqlite';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../../domain/storage-error.ts';
import { keepAs, sync, withFileErrors } from '../backup/synced-files.ts';
import type { Connection } from '../database.ts';
import { CLICK_END } from '../open-database.ts';
import { closing } from '../open-once.ts';
import { CREATE_OPTIONS } from '../open-stores.ts';
import type { FoundSchema } from '../schema/migrate.ts';
import { FIRST_VERSION, type Schema, versionOf } from '../schema/schema.ts';
import { type OldRow, type OldTables, type UpgradeOptions, upgradeRows } from '../schema/upgrade-rows.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';
import { leaveLogs, openAlone, openFile } from './open-file.ts';
import { openSqlite } from './sqlite.ts';
import { SQLITE_CLICKS, SQLITE_MAIN, SQLITE_SPOOL, SQLITE_WALKS } from './sqlite-schemas.ts';

/** Suffix of the old files. */
const BEFORE_END = '.before-0.2.0';
const BATCH = 2_000;
/** Space for the new files and for sorting indexes, as a multiple of the old files, which are larger than the new ones. */
const SPACE_FACTOR = 1.1;

const FILES = [
  ['', SQLITE_MAIN],
  [CLICK_END, SQLITE_CLICKS],
  ['-walks', SQLITE_WALKS],
] as const;

interface SqliteUpgrade {
  readonly path: string;
  readonly found: FoundSchema;
  readonly auditor: Auditor;
  readonly onRows: (rows: number, total: number) => void;
}

interface OldFile {
  readonly path: string;
  readonly schema: Schema;
  readonly file: SqliteFile;
}

export function upgradeSqlite(upgrade: SqliteUpgrade): Promise<void> {
  return withFileErrors(async () => {
    const { path } = upgrade;
    const opened: OldFile[] = [];
    try {
      // The main file first: its lock keeps servers from opening the others.
      for (const [end, schema] of FILES)
        if (existsSync(`${path}${end}`))
          opened.push({ path: `${path}${end}`, schema, file: openAlone(`${path}${end}`) });
      await upgradeFiles(opened.filter(isOld), upgrade);
    } finally {
      for (const { file } of opened.reverse()) file.close();
    }
  });
}

/** A restore or a return to the old version may have left an old file beside a new main file. */
export function hasOldFile(path: string): boolean {
  return FILES.some(([end]) => existsSync(`${path}${end}`) && isOldFile(`${path}${end}`));
}

/** Upgrades the spool of an old version. Spools are small, and each server has its own, so the server that opens it does this. */
export function upgradeSpool(path: string): Promise<void> {
  return withFileErrors(async () => {
    if (statSync(path, { throwIfNoEntry: false }) === undefined || !isOldFile(path)) return;
    const file = openAlone(path);
    try {
      const target = `${path}.upgrading`;
      rmSync(target, { force: true });
      await writeFile(target, file, { schema: SQLITE_SPOOL, release: undefined, nowMs: 0, onRows: () => {} });
      sync(target);
      leaveLogs(file, path);
      renameSync(target, path);
      sync(dirname(path));
    } finally {
      file.close();
    }
  });
}

function isOldFile(path: string): boolean {
  // A read-only connection would leave log files behind.
  using file = openFile(path, 'writable');
  return isOld({ file });
}

/** False for a file that an interrupted upgrade has already put in place. */
function isOld({ file }: Pick<OldFile, 'file'>): boolean {
  const [row] = columnsIn(file).has('schema_version')
    ? file.query('SELECT version FROM schema_version').values()
    : [];
  return row !== undefined && Number(row[0]) < FIRST_VERSION;
}

async function upgradeFiles(files: readonly OldFile[], upgrade: SqliteUpgrade): Promise<void> {
  const { path } = upgrade;
  requireSpace(path, files);
  for (const file of files) requireNoOther(file.path);
  const staging = `${path}.upgrading`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  try {
    // Fails early if this user cannot create files of that owner.
    keepOwner(staging, path, 0o700);
    await writeFiles(staging, files, upgrade);
    for (const { path: from } of files)
      if (!existsSync(`${from}${BEFORE_END}`)) await keepAs(from, `${from}${BEFORE_END}`);
    sync(dirname(path));
    for (const { path: to, file } of files.toReversed()) {
      leaveLogs(file, to);
      renameSync(join(staging, basename(to)), to);
      sync(dirname(to));
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** An upgrade by root must not lock out the server's user. */
function keepOwner(made: string, old: string, mode: number): void {
  const { uid, gid } = statSync(old);
  try {
    chownSync(made, uid, gid);
  } catch (error) {
    throw new StorageError(
      'denied',
      `${old} belongs to another user or group; run this command as the servers' user or as root (nothing was changed)`,
      { cause: error },
    );
  }
  chmodSync(made, mode & 0o777);
}

function requireSpace(path: string, files: readonly OldFile[]): void {
  const needed = files.reduce((sum, file) => sum + statSync(file.path).size, 0) * SPACE_FACTOR;
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw new StorageError(
    'full',
    `the upgrade needs ${megabytes(needed)} on the disk with ${dirname(path)}, where ${megabytes(bavail * bsize)} are free; nothing was changed`,
  );
}

async function writeFiles(
  staging: string,
  files: readonly OldFile[],
  { found, auditor, onRows }: SqliteUpgrade,
): Promise<void> {
  const total = files.reduce((sum, { file }) => sum + countRows(file), 0);
  let done = 0;
  for (const { path, schema, file } of files) {
    const isMain = schema === SQLITE_MAIN;
    const target = join(staging, basename(path));
    const options = {
      schema,
      release: isMain ? found.release : undefined,
      nowMs: auditor.clock(),
      onRows(rows: number) {
        done += rows;
        onRows(done, total);
      },
    };
    await writeFile(target, file, options, async (connection) => {
      if (!isMain) return;
      // Numbers of deleted rows must not be assigned again.
      for (const [name, last] of file.query('SELECT name, seq FROM sqlite_sequence').values() as [
        string,
        number,
      ][]) {
        await connection.all('DELETE FROM sqlite_sequence WHERE name = $1', name);
        await connection.all('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)', name, last);
      }
      const versions = { from: found.version, to: versionOf(schema) };
      await writeAudit(connection, auditor, 'schema migrated', null, versions);
    });
    keepOwner(target, path, statSync(path).mode);
    sync(target);
  }
  sync(staging);
}

async function writeFile(
  target: string,
  old: SqliteFile,
  options: UpgradeOptions,
  finish: (connection: Connection) => Promise<void> = async () => {},
): Promise<void> {
  await using made = closing(openSqlite(target, { ...CREATE_OPTIONS, durable: false }));
  await upgradeRows(oldTables(old), (work) => made.write(work), options);
  await made.write(finish);
  await made.emptyLog();
}

function oldTables(file: SqliteFile): OldTables {
  return {
    columns: columnsIn(file),
    async *read(table, order) {
      const rows = file.query<OldRow, []>(
        `SELECT * FROM ${table} ${order.length > 0 ? `ORDER BY ${order}` : ''}`,
      );
      let batch: OldRow[] = [];
      for (const row of rows.iterate()) {
        if (batch.push(row) < BATCH) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
  };
}

function columnsIn(file: SqliteFile): Map<string, string[]> {
  const sql = `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`;
  const rows = file.query(sql).values() as [string, string][];
  return new Map(
    [...Map.groupBy(rows, ([table]) => table)].map(([table, list]) => [table, list.map(([, name]) => name)]),
  );
}

function countRows(file: SqliteFile): number {
  let count = 0;
  for (const table of columnsIn(file).keys())
    count += Number(file.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0] ?? 0);
  return count;
}

/** An interrupted upgrade has left a second name of the same file. */
function requireNoOther(path: string): void {
  const before = statSync(`${path}${BEFORE_END}`, { throwIfNoEntry: false });
  if (before === undefined || before.ino === statSync(path).ino) return;
  throw new StorageError('exists', `${path}${BEFORE_END} already exists; move it elsewhere, then try again`);
}
