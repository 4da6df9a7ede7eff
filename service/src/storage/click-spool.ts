// The spool: a local SQLite file for clicks that the database could not store. Its rows become clicks, so a file that other users
// could have written, or that has unexpected tables, is rejected.

import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PASSBACK_DATA_BYTES_MAX, PASSBACK_UID_BYTES_MAX } from '@offerbook/wire/text.ts';
import type { ClickSpool } from '../domain/click.ts';
import { systemClock } from '../domain/clock.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { closingOnError, openOnce } from './open-once.ts';
import { COMMAND_OPTIONS } from './open-stores.ts';
import { migrate } from './schema/migrate.ts';
import { columnsOf } from './schema/table.ts';
import { CLICKS } from './schema/tables.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import { findForeign, OBJECTS_SQL, type SchemaObject, SQLITE_SPOOL } from './sqlite/sqlite-schemas.ts';
import { upgradeSpool } from './sqlite/upgrade-sqlite.ts';
import { clickStore } from './stores/click-store.ts';

/** Other processes hold the spool's lock only briefly. */
const SPOOL_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, lockTimeoutMs: 1_000 };

/** Maximum size in bytes of each variable-length column. Rows that exceed this size are not read into memory. */
const LENGTHS: Partial<Record<keyof typeof CLICKS.columns, number>> = {
  id: 22,
  kind: 32,
  deal_id: 16,
  retailer_id: 16,
  passback_uid: PASSBACK_UID_BYTES_MAX,
  passback_data: PASSBACK_DATA_BYTES_MAX,
};
export const IS_OVERSIZED = Object.entries(LENGTHS)
  .map(([column, bytes]) => `length(CAST(${column} AS BLOB)) > ${bytes}`)
  .join(' OR ');

const COLUMNS = columnsOf(CLICKS).join(', ');
const rejectSql = (where: string) =>
  `INSERT INTO rejected_clicks (${COLUMNS}, reason) SELECT ${COLUMNS}, $1 FROM clicks WHERE ${where}`;

/** Opens or creates the spool on first use. */
export function openSpool(path: () => string): ClickSpool {
  const file = openOnce(async () => {
    requirePrivateFiles(path());
    await upgradeSpool(path());
    const spool = await openSpoolFile(path(), { ...SPOOL_OPTIONS, create: true });
    await closingOnError(spool, () => migrate(spool, undefined, SQLITE_SPOOL));
    return spool;
  });
  return {
    ...clickStore(file, systemClock),
    async setAside(id, reason) {
      await (await file.open()).write(async (connection) => {
        await connection.all(rejectSql('id = $2'), reason, id);
        await connection.all('DELETE FROM clicks WHERE id = $1', id);
      });
    },
    async setAsideOversized() {
      return (await file.open()).write(async (connection) => {
        await connection.all(rejectSql(IS_OVERSIZED), 'it is too large');
        return (await connection.all(`DELETE FROM clicks WHERE ${IS_OVERSIZED} RETURNING 1`)).length;
      });
    },
  };
}

/** Throws a StorageError for a file that is not a spool or that other users could have changed. */
export async function openSpoolFile(path: string, options: DatabaseOptions): Promise<Database> {
  requirePrivateFiles(path);
  const file = openSqlite(path, options);
  return closingOnError(file, async () => {
    const foreign = findForeign(await file.all<SchemaObject>(OBJECTS_SQL), SQLITE_SPOOL);
    if (foreign === undefined) return file;
    throw new StorageError('invalid', `${path} is not a spool: it has unexpected tables; move it elsewhere`);
  });
}

function requirePrivateFiles(path: string): void {
  for (const end of ['', '-wal', '-shm']) requirePrivate(`${path}${end}`);
}

function requirePrivate(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw new StorageError('invalid', `${path} is not a regular file; move it elsewhere`);
  const user = process.geteuid?.() ?? stat.uid;
  // Root can run commands for a service that has its own user and folder.
  const isTrusted = stat.uid === user || (user === 0 && stat.uid === statSync(dirname(path)).uid);
  if (!isTrusted)
    throw new StorageError(
      'invalid',
      `${path} belongs to another user, who may have forged clicks; move it elsewhere`,
    );
  if ((stat.mode & 0o077) !== 0)
    throw new StorageError(
      'invalid',
      `${path} is accessible to other users; check its clicks, then run: chmod 600 ${path}`,
    );
}
