// Compares imports that reported success with the database.

import { DATABASE, type Member } from '../cluster/patroni/member.ts';
import type { ImportResult } from '../traffic/import-order.ts';

/** Every version of a transaction names the import that it comes from. */
const COUNT_SQL = `
  SELECT import, count(DISTINCT id)::integer AS rows
    FROM (SELECT id, document::json ->> 'passbackData' AS import FROM transactions
          UNION ALL
          SELECT id, document::json ->> 'passbackData' FROM history) AS versions
   GROUP BY import`;
const TIMEOUT_MS = 60_000;

/** Counts the rows of acknowledged imports that are not in the database, in any version. */
export async function countLostRows(primary: Member, imports: readonly ImportResult[]): Promise<number> {
  const options = { database: DATABASE, timeoutMs: TIMEOUT_MS };
  const found = await primary.query<{ import: string; rows: number }>(COUNT_SQL, options);
  const rowsOf = new Map(found.map(({ import: name, rows }) => [name, rows]));
  return imports
    .map(({ number, changes }) => changes - (rowsOf.get(`import ${number}`) ?? 0))
    .reduce((sum, rows) => sum + Math.max(0, rows), 0);
}
