// Reads the events that must survive a restore (stamps, revocations, erasures, deletions, and changes of webhooks) from the
// database that the backup replaces. That database may be damaged or have an older schema, so it is never migrated.

import type { Database as SqliteFile } from 'bun:sqlite';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import { openAlone } from '../sqlite/open-file.ts';
import { withUuids } from '../sqlite/sqlite-dialect.ts';
import type { ErasedUser } from '../stores/erased-users.ts';
import type { OldTimeline, TokenEnd } from './new-timeline.ts';
import { type OldWebhook, WEBHOOKS_SQL } from './pause-webhooks.ts';

/** Opens the database with an exclusive lock. Returns undefined if it is damaged, which may be the reason for the restore. */
export function openReplaced(path: string): SqliteFile | undefined {
  let file: SqliteFile | undefined;
  try {
    file = openAlone(path);
    const tables = file.query(`SELECT name FROM sqlite_master WHERE type = 'table'`).values().flat();
    if (tables.length === 0 || tables.includes('schema_version')) return file;
  } catch (error) {
    file?.close();
    if (isStorageError(error, 'corrupt', 'unavailable')) return undefined;
    throw error;
  }
  file.close();
  throw new StorageError('invalid', `${path} is not an Offerbook database: it has another program's tables`);
}

/** Kinds of events after a backup that a restore must not undo. */
export const LATER_EVENTS = ['revocations', 'erasures', 'deletions'] as const;
export type LaterEvent = (typeof LATER_EVENTS)[number];

export interface Replaced extends OldTimeline {
  readonly erased: readonly ErasedUser[];
  /** Time of the last deletion, by organisation name. */
  readonly deletedAtMs: ReadonlyMap<string, number>;
  /** Kinds of events that could not be read. */
  readonly unknown: readonly LaterEvent[];
}

/** Returns undefined if the file cannot be read or is not the database that was backed up (its click key differs). */
export function readReplaced(file: SqliteFile, clickKey: string): Replaced | undefined {
  const timeline = unlessDamaged(() => readTimeline(file, clickKey));
  if (timeline === undefined) return undefined;
  const erased = unlessDamaged(() =>
    file.query<ErasedUser, []>('SELECT org_id, digest, erased_at FROM erasures').all(),
  );
  const deletedAtMs = unlessDamaged(() => readDeletions(file));
  const webhooks = unlessDamaged(() => withUuids(file.query<OldWebhook, []>(WEBHOOKS_SQL).all()));
  const unknown: LaterEvent[] = [];
  if (erased === undefined) unknown.push('erasures');
  if (deletedAtMs === undefined) unknown.push('deletions');
  return { ...timeline, webhooks, erased: erased ?? [], deletedAtMs: deletedAtMs ?? new Map(), unknown };
}

/** A damaged old database must not block the restore. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readTimeline(file: SqliteFile, clickKey: string): OldTimeline | undefined {
  const [key] = file.query(`SELECT value FROM secrets WHERE name = 'click'`).values();
  if (key?.[0] !== clickKey) return undefined;
  const clocks = file.query('SELECT id, last_stamp FROM organisations').values() as [number, number][];
  type OldToken = Omit<TokenEnd, 'overlap_ends_at'> & Partial<TokenEnd>;
  const tokens = withUuids(file.query<OldToken, []>('SELECT * FROM tokens').all());
  // In older schemas, revoked_at is the end of the overlap too.
  const tokenEnds = tokens.map(({ id, revoked_at, overlap_ends_at }) =>
    overlap_ends_at === undefined
      ? { id, overlap_ends_at: revoked_at, revoked_at: null }
      : { id, overlap_ends_at, revoked_at },
  );
  return { clocksMs: new Map(clocks), tokenEnds };
}

/**
 * Reads the audit log. An organisation missing from the replaced database may never have been deleted: the backup may be newer
 * than that database.
 */
function readDeletions(file: SqliteFile): Map<string, number> {
  const sql = `SELECT org, max(at) FROM audit WHERE action = 'organisation deleted' GROUP BY org`;
  return new Map(file.query(sql).values() as [string, number][]);
}
