// Revision counters: one for each thing that servers keep in memory. A commit that changes such a thing
// raises its counter. Servers look at the counters all the time, and re-read what has moved.

import type { Revisions } from '../../domain/stores.ts';
import type { Connection, Database } from '../database.ts';
import { forUpdate } from '../sql-dialect.ts';

/** A counter that is no revision: the greatest number of an organisation that was deleted. */
export const DELETED_NUMBER = 'organisations deleted';

/** The greatest number that an organisation has, or has had; null where there is none. */
export const LAST_NUMBER_SQL = `SELECT max(number) FROM (
    SELECT id AS number FROM organisations UNION ALL SELECT value FROM revisions WHERE name = '${DELETED_NUMBER}'
  ) AS numbers`;

/** Makes PostgreSQL number the next organisation behind that. */
export const NUMBER_ON_SQL = `SELECT setval(pg_get_serial_sequence('organisations', 'id'), (${LAST_NUMBER_SQL}))`;

/** Waits for an import of the same thing that is under way, which holds this until its commit. */
export async function lockRevision(
  { dialect }: Database,
  connection: Connection,
  name: keyof Revisions,
): Promise<void> {
  await connection.all(`SELECT value FROM revisions WHERE name = $1 ${forUpdate(dialect)}`, name);
}

export async function raiseRevision(connection: Connection, name: keyof Revisions): Promise<void> {
  await connection.all('UPDATE revisions SET value = value + 1 WHERE name = $1', name);
}

/** Sets a counter that is no revision, unless it is higher. */
export async function raiseCounter(connection: Connection, name: string, value: number): Promise<void> {
  await connection.all(
    `INSERT INTO revisions (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE revisions.value < excluded.value`,
    name,
    value,
  );
}

export async function readRevisions(connection: Pick<Connection, 'all'>): Promise<Revisions> {
  const rows = await connection.all<{ name: keyof Revisions; value: number }>(
    'SELECT name, value FROM revisions',
  );
  const values = new Map(rows.map((row) => [row.name, row.value]));
  return {
    catalogue: values.get('catalogue') ?? 0,
    tokens: values.get('tokens') ?? 0,
    activation: values.get('activation') ?? 0,
  };
}
