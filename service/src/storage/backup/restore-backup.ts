// Restores a backup as an SQLite database. The files are copied to a staging folder beside the database and checked against the
// manifest. The restore then starts a new timeline (new-timeline.ts) and renames the files into place. Replaced files are moved
// aside, never deleted. An intact click file stays in place, which preserves all clicks, purges and erasures since the backup.
//
// The old database stays in place until a single rename replaces it. A restore killed before that rename can be run again.

import type { Database as SqliteFile } from 'bun:sqlite';
import { existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { Database } from '../database.ts';
import { CLICK_END, sqlitePath } from '../open-database.ts';
import { closing } from '../open-once.ts';
import { COMMAND_OPTIONS } from '../open-stores.ts';
import { migrate } from '../schema/migrate.ts';
import { FIRST_VERSION, findDifferences, type Schema, versionOf } from '../schema/schema.ts';
import { leaveLogs, openAlone, openFile } from '../sqlite/open-file.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import { explainSqlite } from '../sqlite/sqlite-errors.ts';
import {
  findForeign,
  OBJECTS_SQL,
  partsOf,
  type SchemaObject,
  SQLITE_CLICKS,
  SQLITE_MAIN,
} from '../sqlite/sqlite-schemas.ts';
import type { Auditor } from '../stores/audit-log.ts';
import { readClickKey } from '../stores/erased-users.ts';
import {
  type BackupManifest,
  CLICK_FILE,
  MAIN_FILE,
  readManifest,
  requireNoLink,
} from './backup-manifest.ts';
import { notSqlite } from './make-backup.ts';
import { beginTimeline } from './new-timeline.ts';
import { repeatErasures } from './repeat-erasures.ts';
import { LATER_EVENTS, openReplaced, type Replaced, readReplaced } from './replaced-database.ts';
import { copySynced, keepAs, newFolder, sync, withFileErrors } from './synced-files.ts';

export interface RestoreOptions {
  readonly url: string;
  readonly source: string;
  /** True to replace an existing database. */
  readonly replaces: boolean;
  readonly keepsStamps: boolean;
  readonly auditor: Auditor;
  readonly onRows?: (rows: number, total: number) => void;
}

const withLogs = (end: string) => [end, ...['-wal', '-shm', '-journal'].map((log) => `${end}${log}`)];
const [MAIN_END, ...MAIN_LOGS] = withLogs('') as [string, ...string[]];
/**
 * Files to move aside: logs of an unreadable database, which SQLite would apply to the new database, and walk files, because a
 * restore ends all walks.
 */
const REPLACED_ENDS = [...MAIN_LOGS, ...withLogs('-walks')];
const CLICK_ENDS = withLogs(CLICK_END);

export function restoreBackup(options: RestoreOptions) {
  return withFileErrors(() => restore(options));
}

async function restore(options: RestoreOptions) {
  const given = sqlitePath(options.url);
  if (given === undefined) throw notSqlite();
  const path = resolve(given);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StorageError(
      'invalid',
      `${path} is a symbolic link to a missing file; check that its disk is mounted`,
    );
  const manifest = readManifest(options.source);
  const isThere = [MAIN_END, ...REPLACED_ENDS, ...CLICK_ENDS].some((end) => existsSync(`${path}${end}`));
  if (isThere && !options.replaces) throw new StorageError('exists', `${path} already exists`);
  const old = existsSync(path) ? openReplaced(path) : undefined;
  try {
    const staging = newFolder(`${path}.restoring-`);
    try {
      await stage(staging, manifest, options.source);
      const { keepsClicks, ...report } = await prepare(staging, path, manifest, old, options);
      if (old !== undefined) leaveLogs(old, path);
      const ends = keepsClicks ? REPLACED_ENDS : [...REPLACED_ENDS, ...CLICK_ENDS];
      const now = () => printTimestamp(options.auditor.clock()).replaceAll(':', '');
      // Does not use newFolder(), which reports every failure as an unwritable folder.
      const replacedFolder = isThere ? mkdtempSync(`${path}.before-restore-${now()}-`) : null;
      if (replacedFolder !== null) moveReplaced(path, ends, replacedFolder);
      const clicks = join(staging, CLICK_FILE);
      if (!keepsClicks && existsSync(clicks)) putInPlace(clicks, `${path}${CLICK_END}`);
      if (replacedFolder !== null && existsSync(path)) {
        await keepAs(path, join(replacedFolder, basename(path)));
        sync(replacedFolder);
      }
      // Must be last, because this rename completes the restore. Every earlier step can be repeated.
      putInPlace(join(staging, MAIN_FILE), path);
      sync(dirname(path));
      return {
        madeAt: manifest.madeAt,
        ...report,
        clicks: keepsClicks ? 'as they were' : 'of the backup',
        /** Folder with the replaced files; null if there were none. */
        replaced: replacedFolder,
      };
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  } finally {
    old?.close();
  }
}

async function stage(staging: string, { files }: BackupManifest, source: string): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    requireNoLink(source, name);
    const sum = await copySynced(join(source, name), join(staging, name)).catch((error: unknown) => {
      const message = `${join(source, name)} could not be copied: ${(error as Error).message}`;
      throw new StorageError('invalid', message, { cause: error });
    });
    if (sum.bytes !== bytes || sum.sha256 !== sha256)
      throw new StorageError(
        'invalid',
        `${join(source, name)} is damaged: its checksum differs from the manifest's; nothing was changed`,
      );
    requireOwnSchema(join(staging, name), name, name === MAIN_FILE ? SQLITE_MAIN : SQLITE_CLICKS);
  }
}

/**
 * Throws a StorageError unless the file has exactly our tables. Runs before any other statement on the file, because a backup may
 * have been tampered with. migrate() compares the columns of an older version.
 */
function requireOwnSchema(path: string, name: string, schema: Schema): void {
  const { objects, version } = readSchema(path);
  const fail = (problem: string) => new StorageError('invalid', `${name} in the backup ${problem}`);
  if (version === undefined) throw fail('is not an Offerbook database; nothing was changed');
  const known = versionOf(schema);
  if (version > known)
    throw new StorageError(
      'too new',
      `${name} in the backup has schema version ${version}, created by a newer Offerbook; this one supports up to version ${known}`,
    );
  if (version < FIRST_VERSION)
    throw fail(
      `has schema version ${version} of an older Offerbook; restore it with that version, then run: offerbook migrate`,
    );
  const parts = objects.flatMap(({ sql }) => partsOf(sql));
  const foreign =
    findForeign(objects, schema) ?? (version === known ? findDifferences(schema, parts)[0] : undefined);
  if (foreign !== undefined) throw fail(`does not have Offerbook's schema: ${foreign}; nothing was changed`);
}

function readSchema(path: string) {
  using file = openFile(path, 'readonly');
  try {
    const objects = file.query<SchemaObject, []>(OBJECTS_SQL).all();
    const isOurs = objects.some(({ type, name }) => type === 'table' && name === 'schema_version');
    const [row] = isOurs ? file.query('SELECT version FROM schema_version').values() : [];
    return { objects, version: row && Number(row[0]) };
  } catch (error) {
    throw explainSqlite(error, path);
  }
}

async function prepare(
  staging: string,
  replaced: string,
  { madeAt }: BackupManifest,
  old: SqliteFile | undefined,
  { keepsStamps, auditor, onRows }: RestoreOptions,
) {
  const path = join(staging, MAIN_FILE);
  await using database = closing(openSqlite(path, COMMAND_OPTIONS));
  await migrate(database, auditor);
  const known = old && readReplaced(old, await readClickKey(database));
  // True if the backup was made from the replaced database and that database's click file is intact.
  const keepsClicks = known !== undefined && isWhole(`${replaced}${CLICK_END}`);
  if (keepsClicks) rmSync(join(staging, CLICK_FILE), { force: true });
  const deleted = await findDeletedOrganisations(database, known?.deletedAtMs ?? new Map());
  const timeline = known && { ...known, tokenEnds: [...known.tokenEnds, ...deleted.tokens] };
  const report = await beginTimeline(database, auditor, { old: timeline, keepsStamps, madeAt, onRows });
  return {
    ...report,
    /** Number of users erased again because they had been erased after the backup, including users not in the backup. */
    usersErased: await repeatErasures(database, path, known?.erased ?? [], auditor),
    /** Names of organisations deleted after the backup, which are restored without valid tokens. */
    organisationsDeleted: deleted.names,
    /** Kinds of events after the backup that could not be read; the operator must repeat them. */
    unknown: known?.unknown ?? LATER_EVENTS,
    keepsClicks,
  };
}

/**
 * Finds organisations in the backup that were deleted after it was made. Such organisations are restored, because that may be
 * intended, but their tokens are revoked as of the deletion.
 */
async function findDeletedOrganisations(database: Database, deletedAtMs: Replaced['deletedAtMs']) {
  const rows = await database.all<{ name: string; created_at: number; token_id: Uuid | null }>(
    `SELECT o.name, o.created_at, t.id AS token_id FROM organisations o LEFT JOIN tokens t ON t.org_id = o.id
     ORDER BY o.name`,
  );
  const names = new Set<string>();
  const tokens = [];
  for (const { name, created_at, token_id } of rows) {
    const revokedAtMs = deletedAtMs.get(name);
    // This organisation was not deleted, though an earlier one with the same name may have been.
    if (revokedAtMs === undefined || revokedAtMs < created_at) continue;
    names.add(name);
    if (token_id !== null) tokens.push({ id: token_id, overlap_ends_at: null, revoked_at: revokedAtMs });
  }
  return { names: [...names], tokens };
}

function isWhole(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const file = openAlone(path);
    try {
      return file.query('PRAGMA quick_check').values()[0]?.[0] === 'ok';
    } finally {
      file.close(true);
    }
  } catch (error) {
    if (isStorageError(error, 'busy')) throw error;
    return false;
  }
}

/** Moves each file before its logs, because a second run could mistake a file without its log for an intact one. */
function moveReplaced(path: string, ends: readonly string[], replacedFolder: string): void {
  for (const end of ends)
    if (existsSync(`${path}${end}`))
      renameSync(`${path}${end}`, join(replacedFolder, `${basename(path)}${end}`));
}

/** Syncs the file and all earlier renames first, so that a power cut cannot reorder them. */
function putInPlace(from: string, to: string): void {
  sync(from);
  sync(dirname(to));
  renameSync(from, to);
}
