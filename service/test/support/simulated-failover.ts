// Simulates a failover on one PostgreSQL server: if the database has recorded an earlier timeline, the server's own timeline is
// new, as after a promotion.

import type { Database } from '../../src/storage/database.ts';

interface Promotion {
  /** Number of timelines without a record between the last recorded one and the server's. */
  readonly unrecorded?: number;
  /** The change clocks of the new primary, if it lacks changes. */
  readonly clockMs?: number;
}

/** Sets the last recorded timeline to one before the server's. */
export async function failOver(
  database: Database,
  { unrecorded = 0, clockMs }: Promotion = {},
): Promise<void> {
  const lastSql = '(SELECT max(id) FROM timelines)';
  await database.write(async (connection) => {
    if (clockMs !== undefined) await connection.all('UPDATE organisations SET last_stamp = $1', clockMs);
    await connection.all(`UPDATE timelines SET system = 'former ' || id WHERE id < ${lastSql}`);
    await connection.all(
      `UPDATE timelines SET timeline = timeline - 1 - $1 WHERE id = ${lastSql}`,
      unrecorded,
    );
  });
}
