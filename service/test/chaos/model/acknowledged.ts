// Imports that reported success, for comparison with the database.

import { DATABASE, type Member } from '../cluster/patroni/member.ts';
import type { ImportResult } from '../traffic/imports/import-order.ts';

/** Every version of a transaction names the import that it comes from. */
const COUNT_SQL = `
  SELECT import, count(DISTINCT id)::integer AS rows
    FROM (SELECT id, document::json ->> 'passbackData' AS import FROM transactions
          UNION ALL
          SELECT id, document::json ->> 'passbackData' FROM history) AS versions
   GROUP BY import`;
const TIMEOUT_MS = 60_000;

export class Acknowledged {
  #imports: ImportResult[] = [];

  note(result: ImportResult): void {
    if (result.changes > 0) this.#imports.push(result);
  }

  /** Counts the imports since the last check, and those of their rows that are not in the database. */
  async check(primary: Member): Promise<{ imports: number; lostRows: number }> {
    const found = await primary.query<{ import: string; rows: number }>(COUNT_SQL, {
      database: DATABASE,
      timeoutMs: TIMEOUT_MS,
    });
    const rowsOf = new Map(found.map(({ import: name, rows }) => [name, rows]));
    const checked = this.#imports;
    this.#imports = [];
    const lost = checked.map(({ number, changes }) => changes - (rowsOf.get(`import ${number}`) ?? 0));
    return { imports: checked.length, lostRows: lost.reduce((sum, rows) => sum + Math.max(0, rows), 0) };
  }
}
