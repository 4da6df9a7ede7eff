// Brings a database to this program's schema on first use. Steps run in order, in one transaction, under a
// lock, so that ten processes that start at once do it once; a database made by a newer program is refused.

import { BadInput } from '../domain/errors.ts';
import type { Connection, Database } from './database.ts';
import { MIGRATIONS, type Step } from './schema.ts';

/** Any constant will do, as long as no other program uses it on the same database. */
const ADVISORY_LOCK = 0x0ff3_b00c;
/** Even a server, which otherwise never waits for a lock, waits for whoever is making its tables. */
const LOCK_TIMEOUT_MS = 60_000;

export async function migrate(
  database: Database,
  steps: readonly Step[] = MIGRATIONS[database.dialect],
): Promise<void> {
  // Most starts find a current schema: they take no lock and can use a database that they may not write.
  if (isCurrent(await findVersion(database.dialect, database), steps.length)) return;
  await database.write(async (connection) => {
    if (database.dialect === 'postgres')
      await connection.all('SELECT pg_advisory_xact_lock($1)', ADVISORY_LOCK);
    const version = await findVersion(database.dialect, connection);
    if (isCurrent(version, steps.length)) return;
    for (const step of steps.slice(version)) {
      for (const statement of step) await connection.all(statement);
    }
    await recordVersion(connection, steps.length);
  }, LOCK_TIMEOUT_MS);
}

function isCurrent(version: number, known: number): boolean {
  if (version > known) {
    throw new BadInput(
      `this database has schema version ${version}, made by a newer Offerbook; this one knows up to version ${known}`,
    );
  }
  return version === known;
}

/** 0 for a database that is empty. */
async function findVersion(
  dialect: Database['dialect'],
  connection: Pick<Connection, 'all'>,
): Promise<number> {
  const exists =
    dialect === 'sqlite'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'`
      : // Not to_regclass(): it may answer from a cache that is older than the lock we have just waited for.
        `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'`;
  if ((await connection.all(exists)).length === 0) return 0;
  const [row] = await connection.all<{ version: number }>('SELECT version FROM schema_version');
  return row?.version ?? 0;
}

async function recordVersion(connection: Connection, version: number): Promise<void> {
  await connection.all('DELETE FROM schema_version');
  await connection.all('INSERT INTO schema_version (version) VALUES ($1)', version);
}
