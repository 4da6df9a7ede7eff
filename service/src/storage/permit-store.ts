// Request limits that several nodes keep together: how many requests of each key were let through in the
// window under way. PostgreSQL only; SQLite serves one machine, whose processes share memory.
//
// Windows are those of the database's clock, which is the same for all nodes. A key is stored as a hash, so
// that no caller's address is written down.

import { BadInput } from '../domain/errors.ts';
import type { PermitStore } from '../domain/stores.ts';
import { openDatabase } from './open-stores.ts';
import { arrayText } from './sql-dialect.ts';

/** A connection of its own: permits must not wait behind pages of transactions. */
const OPTIONS = { durable: false, lockTimeoutMs: 0, statementTimeoutMs: 500, connectionsMax: 1 };

const TAKE = `
  WITH moment AS (
    SELECT floor(extract(epoch FROM now()) / 60)::bigint AS number,
           60000 - floor(extract(epoch FROM now()) * 1000)::bigint % 60000 AS left_ms
  ), updated AS (
    INSERT INTO request_counts AS stored (key, window_number, taken)
    SELECT wanted.key, moment.number, wanted.count
      FROM moment, unnest($1::text::bigint[], $2::text::integer[]) AS wanted (key, count)
     -- In the same order on every node, so that none waits for another that waits for it.
     ORDER BY wanted.key
    ON CONFLICT (key) DO UPDATE SET
      taken = excluded.taken
        + CASE WHEN stored.window_number = excluded.window_number THEN stored.taken ELSE 0 END,
      window_number = excluded.window_number
    RETURNING key, taken
  )
  SELECT moment.number AS window_number, moment.left_ms, updated.key::text, updated.taken
    FROM moment LEFT JOIN updated ON true`;

/** What is locked is in use, and not old. */
const FORGET = `
  DELETE FROM request_counts WHERE key IN (
    SELECT key FROM request_counts WHERE window_number NOT BETWEEN $1::bigint - 1 AND $1::bigint
       FOR UPDATE SKIP LOCKED
  )`;

interface Row {
  readonly window_number: number;
  readonly left_ms: number;
  readonly key: string | null;
  readonly taken: number;
}

export function openPermitStore(url: string): PermitStore {
  const database = openDatabase(url, OPTIONS);
  if (database.dialect !== 'postgres') {
    void database.close();
    throw new BadInput(
      '--rate-limit-store database needs PostgreSQL; on SQLite, limits are shared by all workers',
    );
  }
  let forgottenUpTo: number | undefined;

  return {
    async take(wanted) {
      const names = new Map(wanted.map(({ key }) => [hashOf(key), key]));
      const rows = await database.all<Row>(
        TAKE,
        arrayText([...names.keys()]),
        arrayText(wanted.map(({ count }) => count)),
      );
      const [{ window_number: windowNumber, left_ms: windowLeftMs }] = rows as [Row];
      if (windowNumber !== forgottenUpTo) {
        forgottenUpTo = windowNumber;
        // Nobody waits for it, and when it fails, another node or another minute does it.
        void database.all(FORGET, windowNumber).catch(() => {});
      }
      const taken = new Map(rows.map(({ key, taken }) => [names.get(key ?? '') ?? '', taken]));
      return { windowNumber, windowLeftMs, taken };
    },
    close: () => database.close(),
  };
}

function hashOf(key: string): string {
  return String(BigInt.asIntN(64, BigInt(Bun.hash(key))));
}
