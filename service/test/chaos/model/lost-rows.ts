// Compares a PostgreSQL database after a failover with what was acknowledged before it.

import { query } from '../../support/postgres-replica.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import type { ImportResult } from '../traffic/import-order.ts';

/** Every version of a transaction names the import that it comes from. */
const COUNT_SQL = `
  SELECT import, count(DISTINCT id)::integer AS rows
    FROM (SELECT id, document::json ->> 'passbackData' AS import FROM transactions
          UNION ALL
          SELECT id, document::json ->> 'passbackData' FROM history) AS versions
   GROUP BY import`;

/** Counts the rows of acknowledged imports that are not in the database, in any version. */
export async function countLostRows(
  server: PostgresServer,
  database: string,
  imports: readonly ImportResult[],
): Promise<number> {
  const found = await query<{ import: string; rows: number }>(server, COUNT_SQL, database);
  const rowsOf = new Map(found.map(({ import: name, rows }) => [name, rows]));
  return imports
    .map(({ number, changes }) => changes - (rowsOf.get(`import ${number}`) ?? 0))
    .reduce((sum, rows) => sum + Math.max(0, rows), 0);
}

/** Recording a failover moves all change clocks to the present, also those of organisations without later imports. */
const BEHIND_SQL = `
  SELECT name FROM organisations
   WHERE last_stamp < (SELECT max(at) FROM timelines WHERE id > (SELECT min(id) FROM timelines))`;

/** Names of the organisations whose change clocks are earlier than the last failover. */
export async function findClocksBehind(server: PostgresServer, database: string): Promise<string[]> {
  return (await query<{ name: string }>(server, BEHIND_SQL, database)).map(({ name }) => name);
}
