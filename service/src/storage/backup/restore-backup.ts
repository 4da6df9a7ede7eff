// Brings a backup back as an SQLite database. The files are copied beside their place, checked against the manifest, told
// apart from what was there (new-timeline.ts), and renamed into their place at the end. What they replace is moved aside,
// never deleted. Clicks that are there stay: what happened to them after the backup, to be recorded, purged or erased, is
// true whatever was wrong with the rest.
//
// The database that is replaced keeps its place until one rename puts the new one there. A restore that is killed before
// that can be run again, and still reads the old one; after that, it is complete.

import type { Database as SqliteFile } from 'bun:sqlite';
import { existsSync, linkSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { Database } from '../database.ts';
import { CLICK_END, sqlitePath } from '../open-database.ts';
import { closing } from '../open-once.ts';
import { COMMAND_OPTIONS } from '../open-stores.ts';
import { migrate } from '../schema/migrate.ts';
import { openAlone } from '../sqlite/open-alone.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import { SQLITE_CLICKS, SQLITE_MAIN } from '../sqlite/sqlite-schemas.ts';
import type { Auditor } from '../stores/audit-log.ts';
import { readClickKey } from '../stores/secret.ts';
import {
  type BackupManifest,
  CLICK_FILE,
  MAIN_FILE,
  readManifest,
  requireNoLink,
} from './backup-manifest.ts';
import { notSqlite } from './make-backup.ts';
import { beginTimeline, type TimelineReport } from './new-timeline.ts';
import { repeatErasures } from './repeat-erasures.ts';
import {
  LATER_EVENTS,
  type LaterEvent,
  openReplaced,
  type Replaced,
  readReplaced,
} from './replaced-database.ts';
import { requireOwnSchema } from './require-own-schema.ts';
import { copySynced, newFolder, sync, withFileErrors } from './synced-files.ts';

export interface RestoreOptions {
  readonly url: string;
  readonly source: string;
  /** Whether a database that is there may be replaced. */
  readonly replaces: boolean;
  readonly keepsStamps: boolean;
  readonly auditor: Auditor;
  readonly onRows?: (rows: number) => void;
}

export interface RestoreReport extends TimelineReport {
  readonly madeAt: string;
  /** Users who were erased after the backup, and are again, whether it names them or not. */
  readonly usersErased: number;
  /** The names of organisations that were deleted after the backup. They are back, without a token that is good. */
  readonly organisationsDeleted: readonly string[];
  /** What may have happened after the backup and could not be read anywhere: a person has to repeat it. */
  readonly unknown: readonly LaterEvent[];
  /** Whether clicks are those of the backup, or those that were there. */
  readonly clicks: 'of the backup' | 'as they were';
  /** Where the files are that were replaced; null when there were none. */
  readonly replaced: string | null;
}

const withLogs = (end: string) => [end, ...['-wal', '-shm', '-journal'].map((log) => `${end}${log}`)];
const [MAIN_END, ...MAIN_LOGS] = withLogs('') as [string, ...string[]];
/** Logs of a database that could not be read would be taken for those of the new one. Notes about walks are of no time. */
const REPLACED_ENDS = [...MAIN_LOGS, ...withLogs('-walks')];
const CLICK_ENDS = withLogs(CLICK_END);

export function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  return withFileErrors(() => restore(options));
}

async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const given = sqlitePath(options.url);
  if (given === undefined) throw notSqlite();
  const path = resolve(given);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StorageError(
      'invalid',
      `${path} is a link that leads nowhere; is the disk mounted that it leads to?`,
    );
  const manifest = readManifest(options.source);
  const isThere = [MAIN_END, ...REPLACED_ENDS, ...CLICK_ENDS].some((end) => existsSync(`${path}${end}`));
  if (isThere && !options.replaces) {
    throw new StorageError('exists', `there is a database at ${path}`);
  }
  const old = existsSync(path) ? openReplaced(path) : undefined;
  try {
    const staging = newFolder(`${path}.restoring-`);
    try {
      await stage(staging, manifest, options.source);
      const { keepsClicks, ...report } = await prepare(staging, path, manifest, old, options);
      if (old !== undefined) leaveLogs(old, path);
      const ends = keepsClicks ? REPLACED_ENDS : [...REPLACED_ENDS, ...CLICK_ENDS];
      const now = () => printTimestamp(options.auditor.clock()).replaceAll(':', '');
      // That the folder can be written is known by now: what goes wrong here has another reason, and tells it.
      const aside = isThere ? mkdtempSync(`${path}.before-restore-${now()}-`) : null;
      if (aside !== null) moveAside(path, ends, aside);
      const clicks = join(staging, CLICK_FILE);
      if (!keepsClicks && existsSync(clicks)) putInPlace(clicks, `${path}${CLICK_END}`);
      if (aside !== null && existsSync(path)) await keepAside(path, aside);
      // Last: with it the restore is complete, and without it nothing has happened that cannot be repeated.
      putInPlace(join(staging, MAIN_FILE), path);
      sync(dirname(path));
      const { madeAt } = manifest;
      return { madeAt, ...report, clicks: keepsClicks ? 'as they were' : 'of the backup', replaced: aside };
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
      throw new StorageError(
        'invalid',
        `${join(source, name)} could not be copied: ${(error as Error).message}`,
        {
          cause: error,
        },
      );
    });
    if (sum.bytes !== bytes || sum.sha256 !== sha256)
      throw new StorageError(
        'invalid',
        `${join(source, name)} is damaged: it is not what the backup was; nothing was changed`,
      );
    requireOwnSchema(join(staging, name), name, name === MAIN_FILE ? SQLITE_MAIN : SQLITE_CLICKS);
  }
}

/** `keepsClicks`: of the database that is replaced, which is the one of which the backup was made. */
type Prepared = Omit<RestoreReport, 'madeAt' | 'clicks' | 'replaced'> & { readonly keepsClicks: boolean };

async function prepare(
  staging: string,
  replaced: string,
  { madeAt }: BackupManifest,
  old: SqliteFile | undefined,
  { keepsStamps, auditor, onRows }: RestoreOptions,
): Promise<Prepared> {
  const path = join(staging, MAIN_FILE);
  await using database = closing(openSqlite(path, COMMAND_OPTIONS));
  await migrate(database, auditor);
  const known = old && readReplaced(old, await readClickKey(database));
  const keepsClicks = known !== undefined && isWhole(`${replaced}${CLICK_END}`);
  if (keepsClicks) rmSync(join(staging, CLICK_FILE), { force: true });
  const deleted = await findDeletedOrganisations(database, known?.deletedAtMs ?? new Map());
  const timeline = known && { ...known, revokedTokens: [...known.revokedTokens, ...deleted.tokens] };
  const report = await beginTimeline(database, auditor, { old: timeline, keepsStamps, madeAt, onRows });
  const usersErased = await repeatErasures(database, path, known?.erased ?? [], auditor);
  const unknown = known?.unknown ?? LATER_EVENTS;
  return { ...report, usersErased, organisationsDeleted: deleted.names, unknown, keepsClicks };
}

/**
 * Organisations of the backup that were deleted after it was made, by their names and the moments of the last deletions. They
 * come back with it, because it may be brought back for their sake, but their tokens must not be good again by that: they
 * count as revoked when the organisation was deleted.
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
    // One of the same name was deleted before this one was made.
    if (revokedAtMs === undefined || revokedAtMs < created_at) continue;
    names.add(name);
    if (token_id !== null) tokens.push({ id: token_id, revokedAtMs });
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

/** What is closed later would take files of the new database for its own. */
function leaveLogs(old: SqliteFile, path: string): void {
  old.run('PRAGMA journal_mode = DELETE');
  old.run('PRAGMA journal_mode = MEMORY');
  // Left empty by the first of the two.
  rmSync(`${path}-journal`, { force: true });
}

/** Each file before its logs: without them, it might seem whole to a second run. */
function moveAside(path: string, ends: readonly string[], aside: string): void {
  for (const end of ends)
    if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, join(aside, `${basename(path)}${end}`));
}

/** Under a second name, which is all it has once the first is the new database's. */
async function keepAside(path: string, aside: string): Promise<void> {
  const second = join(aside, basename(path));
  try {
    linkSync(path, second);
  } catch {
    // Not every file system has hard links.
    await copySynced(path, second);
  }
  sync(aside);
}

/** On the disk are first the bytes and what was done before, then the name. */
function putInPlace(from: string, to: string): void {
  sync(from);
  sync(dirname(to));
  renameSync(from, to);
}
