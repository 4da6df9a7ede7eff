// Revision counters, one for each kind of data that servers keep in memory. A commit that changes the data increments the
// counter. Servers poll the counters and reload data that has changed.

import { REVISIONS, type Revisions } from '../../domain/stores.ts';
import type { Connection, Queries } from '../database.ts';
import type { Statement } from '../sql.ts';

/**
 * A counter in the table `revisions`: the greatest organisation number that must not be assigned again, because a deleted
 * organisation had it, or a restore or a copy skipped it.
 */
export const DELETED_NUMBER = 'organisations deleted';

/** The greatest organisation number that is or was used or skipped; null if there is none. */
export const LAST_NUMBER_SQL = `SELECT max(number) FROM (
    SELECT id AS number FROM organisations UNION ALL SELECT value FROM revisions WHERE name = '${DELETED_NUMBER}'
  ) AS numbers`;

const LOCK_SQL: Statement = ({ forUpdate }) => `SELECT value FROM revisions WHERE name = $1 ${forUpdate}`;

/** Waits for a running import of the same kind, which holds this lock until its commit. */
export async function lockRevision(connection: Connection, name: keyof Revisions): Promise<void> {
  await connection.all(LOCK_SQL, name);
}

export async function raiseRevision(connection: Connection, name: keyof Revisions): Promise<void> {
  await connection.all('UPDATE revisions SET value = value + 1 WHERE name = $1', name);
}

/** Raises a counter to at least this value. */
export async function raiseCounter(connection: Connection, name: string, value: number): Promise<void> {
  await connection.all(
    `INSERT INTO revisions (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE revisions.value < excluded.value`,
    name,
    value,
  );
}

export async function readRevisions(connection: Queries): Promise<Revisions> {
  const rows = await connection.all<{ name: string; value: number }>('SELECT name, value FROM revisions');
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return Object.fromEntries(REVISIONS.map((name) => [name, values.get(name) ?? 0])) as Revisions;
}
