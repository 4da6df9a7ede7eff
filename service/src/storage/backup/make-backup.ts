// Backs up an SQLite database while servers and imports are running. A backup is a folder with a copy of each database file and a
// manifest. The folder is written under a temporary name and renamed at the end, so a folder with the final name is complete.
//
// Each copy is made with VACUUM INTO, which reads one snapshot of the file, does not block readers or writers, and omits free
// pages, which may still contain deleted data.
//
// The order of the copies matters. Transactions are copied first, so every click with a sale in the backup is already marked as
// sold when the clicks are copied. A purge keeps clicks marked as sold. Clicks newer than the transactions are harmless. The
// spool is copied before the clicks: a click that moves from the spool to the database in between is in both copies and is stored
// once.

import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Click } from '../../domain/click.ts';
import type { Clock } from '../../domain/clock.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import { IS_OVERSIZED, openSpoolFile } from '../click-spool.ts';
import { copyClickRows } from '../copy-clicks.ts';
import { CLICK_END, sqlitePath } from '../open-database.ts';
import { closing } from '../open-once.ts';
import { CREATE_OPTIONS, openFileBeside, READ_OPTIONS } from '../open-stores.ts';
import { findUsableSchema } from '../schema/migrate.ts';
import { openAlone } from '../sqlite/open-file.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import { SQLITE_CLICKS } from '../sqlite/sqlite-schemas.ts';
import { upgradeSpool } from '../sqlite/upgrade-sqlite.ts';
import { readClickKey } from '../stores/erased-users.ts';
import {
  type BackupFile,
  type BackupManifest,
  CLICK_FILE,
  MAIN_FILE,
  MANIFEST_NAME,
} from './backup-manifest.ts';
import { newFolder, sumOf, sync, withFileErrors } from './synced-files.ts';

export interface BackupOptions {
  readonly url: string;
  /** Path of the backup folder, which must not exist yet. */
  readonly target: string;
  /** Returns the path of the spool, given the database's click key. */
  readonly spoolPath: (clickKey: string) => string;
  /** Returns true for a click recorded by a server with this key; any other click in the spool is forged. */
  readonly isOurs: (click: Click, clickKey: string) => boolean;
  readonly clock: Clock;
  /** Called before anything is copied, with the folder that is being filled and the size of the database files. */
  readonly onStart?: (folder: string, bytes: number) => void;
  /** Offerbook version, for the manifest. */
  readonly version: string;
}

export function makeBackup(options: BackupOptions): Promise<BackupManifest> {
  return withFileErrors(() => copyToFolder(options));
}

async function copyToFolder(options: BackupOptions): Promise<BackupManifest> {
  const { spoolPath, isOurs, clock, onStart, version } = options;
  const path = sqlitePath(options.url);
  if (path === undefined) throw notSqlite();
  const target = resolve(options.target);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
    throw new StorageError('exists', `${target} already exists; nothing was written`);
  await using source = closing(openSqlite(path, READ_OPTIONS));
  // Throws if the schema is too new.
  await findUsableSchema(source);
  // If the process is killed, the name of the leftover folder shows which backup it was for.
  const folder = newFolder(`${target}.partial-`);
  const sizes = ['', '-wal', CLICK_END, `${CLICK_END}-wal`].map(
    (end) => statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0,
  );
  onStart?.(
    folder,
    sizes.reduce((sum, size) => sum + size),
  );
  try {
    const clickKey = await readClickKey(source);
    const madeAt = printTimestamp(clock());
    const [main, clicks] = [join(folder, MAIN_FILE), join(folder, CLICK_FILE)];
    const list = join(folder, MANIFEST_NAME);
    await vacuumInto(path, main);
    await copyAllClicks(path, spoolPath(clickKey), clicks, (click) => isOurs(click, clickKey));
    const files: BackupFile[] = [];
    for (const name of [MAIN_FILE, CLICK_FILE])
      if (existsSync(join(folder, name))) files.push(await verify(folder, name));
    const manifest: BackupManifest = { kind: 'offerbook backup', format: 1, madeAt, version, files };
    writeFileSync(list, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    sync(list);
    sync(folder);
    renameSync(folder, target);
    sync(dirname(target));
    return manifest;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export function notSqlite(): StorageError {
  return new StorageError(
    'settings',
    'this command is for SQLite; back up PostgreSQL with pg_dump or WAL archiving (see docs/operations/backups.md)',
  );
}

async function vacuumInto(from: string, to: string): Promise<void> {
  // VACUUM INTO accepts an empty file as its target and keeps the file's mode.
  closeSync(openSync(to, 'wx', 0o600));
  await using source = closing(openSqlite(from, READ_OPTIONS));
  try {
    await source.all('VACUUM INTO $1', to);
  } catch (error) {
    if (isStorageError(error, 'full'))
      throw new StorageError('full', `the disk with ${dirname(to)} is full`, { cause: error });
    throw error;
  }
}

async function copyAllClicks(
  path: string,
  spool: string,
  to: string,
  isOurs: (click: Click) => boolean,
): Promise<void> {
  const spooled = `${to}-spool`;
  if (existsSync(spool)) {
    await (await openSpoolFile(spool, READ_OPTIONS)).close();
    await vacuumInto(spool, spooled);
  }
  if (existsSync(`${path}${CLICK_END}`)) await vacuumInto(`${path}${CLICK_END}`, to);
  if (!existsSync(spooled)) return;
  try {
    await upgradeSpool(spooled);
    await using from = closing(openSqlite(spooled, CREATE_OPTIONS));
    await using target = closing(await openFileBeside(to, SQLITE_CLICKS, CREATE_OPTIONS));
    await from.all(`DELETE FROM clicks WHERE ${IS_OVERSIZED}`);
    await copyClickRows(from, target, { isOurs });
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${spooled}${end}`, { force: true });
  }
}

/** Checks the integrity of a copy, counts its rows and computes its checksum. */
async function verify(folder: string, name: BackupFile['name']): Promise<BackupFile> {
  const path = join(folder, name);
  const file = openAlone(path);
  const rows: Record<string, number> = {};
  try {
    // Outside WAL mode, a reader does not create -wal or -shm files beside the copy.
    file.run('PRAGMA journal_mode = DELETE');
    const faults = [
      ...file.query('PRAGMA integrity_check').values(),
      ...file.query('PRAGMA foreign_key_check').values(),
    ];
    if (faults.length !== 1 || faults[0]?.[0] !== 'ok')
      throw new StorageError(
        'corrupt',
        `the copy of ${name} is damaged, and the database may be too: ${faults[0]?.join(' ')}`,
      );
    const tables = file.query(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`,
    );
    for (const { name: table } of tables.all() as { name: string }[]) {
      const [count] = file.query(`SELECT count(*) FROM "${table}"`).values();
      rows[table] = Number(count?.[0]);
    }
  } finally {
    file.close(true);
  }
  sync(path);
  return { name, ...(await sumOf(path)), rows };
}
