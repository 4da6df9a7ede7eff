// The import log has an entry for each import. The entry is written before the import begins and closed in the import's
// transaction. Entries are deleted after 400 days, but the outcome counters (in the table `revisions`) and each feed's freshness
// are kept.

import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  IMPORT_KINDS,
  IMPORT_OUTCOMES,
  type ImportCounts,
  type ImportDay,
  type ImportEntry,
  type ImportFeed,
  type ImportKind,
  type ImportLog,
  type ImportOrigin,
  type ImportOutcome,
  type ImportResult,
  NO_COUNTS,
} from '../../domain/import-log.ts';
import type { Connection, Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { expireSql, KEEP_MS } from './audit-log.ts';
import { DELETED_NUMBER } from './revision.ts';

/** Keeps open entries: their imports may still be running and must close them. */
const EXPIRE_SQL = `${expireSql('imports', 'began_at')} AND outcome <> 'begun'`;

/**
 * How long a failed import waits for the lock before it reports its error. If the wait times out, the next import closes the
 * entry as unfinished.
 */
const CLOSE_TIMEOUT_MS = 5_000;

/** Entry fields that have no column, stored as JSON. */
type Document = ImportResult & Omit<ImportOrigin, 'kind' | 'orgId'>;

interface Row extends Omit<ImportEntry, keyof Document> {
  readonly document: string;
}

const NO_RESULT: ImportResult = {
  counts: NO_COUNTS,
  fileDigest: null,
  problems: [],
  problemCount: 0,
  reason: null,
};

const SELECT = `SELECT i.id, i.kind, i.org_id AS "orgId", o.name AS "orgName", i.began_at AS "beganAtMs",
    i.ended_at AS "endedAtMs", i.outcome, i.document
  FROM imports i LEFT JOIN organisations o ON o.id = i.org_id`;

/** Open entries among the newest thousand. An older one was closed by a later import, or belongs to a retired feed. */
const OPEN_SQL = `${SELECT} WHERE i.outcome = 'begun' AND i.id > (SELECT max(id) FROM imports) - 1000
  ORDER BY i.id DESC LIMIT 5`;

export function importLog(database: Database, clock: Clock): ImportLog {
  return {
    begin: ({ kind, orgId, ...origin }) =>
      database.write(async (connection) => {
        const nowMs = clock();
        await connection.all(EXPIRE_SQL, nowMs - KEEP_MS);
        const document: Document = { ...origin, ...NO_RESULT };
        const [row] = await connection.all<{ id: number }>(
          `INSERT INTO imports (kind, org_id, began_at, outcome, document) VALUES ($1, $2, $3, 'begun', $4)
           RETURNING id`,
          kind,
          orgId,
          nowMs,
          JSON.stringify(document),
        );
        if (row === undefined) throw new Error('the import log entry was not written');
        return row.id;
      }),
    close: (id, outcome, result) =>
      database.write((connection) => closeImport(connection, id, outcome, result, clock()), CLOSE_TIMEOUT_MS),
    async find(id) {
      const [row] = await database.all<Row>(`${SELECT} WHERE i.id = $1`, id);
      return row === undefined ? undefined : toEntry(row);
    },
    async list({ kind, orgId: org_id, outcome, limit }) {
      const wanted = Object.entries({ kind, org_id, outcome }).filter(([, value]) => value !== undefined);
      const conditions = wanted.map(([column], i) => `i.${column} = $${i + 2}`).join(' AND ') || 'true';
      const sql = `${SELECT} WHERE ${conditions} ORDER BY i.id DESC LIMIT $1`;
      const rows = await database.all<Row>(sql, limit, ...wanted.map(([, value]) => value ?? null));
      return rows.map(toEntry);
    },
    async listOpen() {
      return (await database.all<Row>(OPEN_SQL)).map(toEntry);
    },
    async days(sinceMs) {
      const rows = await database.all<DayRow>(DAYS_SQL, sinceMs);
      return rows.map(({ dayMs, kind, imports, ...counts }) => ({ dayMs, kind, imports, counts }));
    },
    async totals() {
      const rows = await database.all<{ name: string; value: number }>(COUNTERS_SQL);
      const counters = new Map(rows.map(({ name, value }) => [name, value]));
      const countOf = (kind: ImportKind, outcome: ImportOutcome) => ({
        kind,
        outcome,
        count: counters.get(counterOf(kind, outcome)) ?? 0,
      });
      const outcomes = IMPORT_OUTCOMES.filter((outcome) => outcome !== 'begun');
      const counts = IMPORT_KINDS.flatMap((kind) => outcomes.map((outcome) => countOf(kind, outcome)));
      const feeds = await database.all<ImportFeed>(FEEDS_SQL, clock() - SOURCE_KEEP_MS);
      return { counts, feeds };
    },
  };
}

const COUNT_NAMES = Object.keys(NO_COUNTS) as (keyof ImportCounts)[];

type DayRow = Omit<ImportDay, 'counts'> & ImportCounts;

const DAYS_SQL: Statement = ({ jsonNumber }) => {
  const sums = COUNT_NAMES.map(
    (name) => `CAST(sum(coalesce(${jsonNumber('document', ['counts', name])}, 0)) AS bigint) AS ${name}`,
  );
  return `SELECT began_at / ${DAY_MS} * ${DAY_MS} AS "dayMs", kind, count(*) AS imports, ${sums.join(', ')}
    FROM imports WHERE began_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`;
};

/** Counters that a copy of the database needs: import outcomes, and the greatest organisation number to skip. */
export const COUNTERS_SQL = `SELECT name, value FROM revisions WHERE name LIKE 'imports %' OR name = '${DELETED_NUMBER}'`;

const counterOf = (kind: ImportKind, outcome: ImportOutcome) => `imports ${kind} ${outcome}`;

/** A source without an import for this long counts as abandoned and must not raise alarms. */
const SOURCE_KEEP_MS = 30 * DAY_MS;

/**
 * Sources with an import since $1, by kind and organisation. If an organisation has no such source for a kind, all its imports
 * of that kind are one feed. Imports of transactions without an organisation count as a feed only after one has succeeded: a
 * refused one usually lacks --org by mistake.
 */
const FEEDS_SQL = `SELECT f.kind, o.name AS "orgName", nullif(f.source, '') AS source, f.last_success AS "lastSuccessMs",
    f.last_outcome AS "lastOutcome", f.last_ended AS "lastEndedMs"
  FROM import_feeds f LEFT JOIN organisations o ON o.id = f.org_id
  WHERE o.deleting_since IS NULL
    AND NOT (f.kind = 'transactions' AND f.org_id = 0 AND f.last_success IS NULL AND f.last_outcome = 'refused')
    AND CASE f.source WHEN '' THEN NOT EXISTS (
    SELECT 1 FROM import_feeds s
    WHERE s.kind = f.kind AND s.org_id = f.org_id AND s.source <> '' AND s.last_ended > $1
  ) ELSE f.last_ended > $1 END
  ORDER BY f.kind, coalesce(o.name, ''), f.source`;

const PUT_FEED_SQL = `INSERT INTO import_feeds (kind, org_id, source, last_success, last_outcome, last_ended)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (kind, org_id, source) DO UPDATE SET last_outcome = excluded.last_outcome, last_ended = excluded.last_ended,
    last_success = coalesce(excluded.last_success, import_feeds.last_success)`;

/** Call this near the end of a transaction: every other import of this kind waits for the row until the commit. */
async function count(
  connection: Connection,
  kind: ImportKind,
  outcome: ImportOutcome,
  by = 1,
): Promise<void> {
  await connection.all(
    `INSERT INTO revisions (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = revisions.value + excluded.value`,
    counterOf(kind, outcome),
    by,
  );
}

/**
 * Imports of the same kind and organisation run one at a time, so any older open entry belongs to a killed process or to an
 * import that is waiting for the lock. The entry of a waiting import shows the wrong outcome until that import ends.
 */
const CLOSE_UNFINISHED_SQL = `UPDATE imports SET outcome = 'unfinished'
  WHERE outcome = 'begun' AND id < $1
    AND kind = (SELECT kind FROM imports WHERE id = $1)
    AND coalesce(org_id, 0) = (SELECT coalesce(org_id, 0) FROM imports WHERE id = $1)
  RETURNING kind`;

/** Closes all open entries. Only for a restore, while no import is running. */
export async function closeOpenImports(connection: Connection, reason: string): Promise<void> {
  const open = await connection.all<{ id: number; kind: ImportKind; document: string }>(
    "SELECT id, kind, document FROM imports WHERE outcome = 'begun'",
  );
  for (const { id, kind, document } of open) {
    const closed: Document = { ...(JSON.parse(document) as Document), reason };
    const sql = "UPDATE imports SET outcome = 'unfinished', document = $2 WHERE id = $1";
    await connection.all(sql, id, JSON.stringify(closed));
    await count(connection, kind, 'unfinished');
  }
}

/**
 * Closes the entries of killed imports and returns a function that closes this import's entry. The caller's transaction must hold
 * the import lock.
 */
export async function takeOverLog(
  connection: Connection,
  clock: Clock,
  id: number | undefined,
): Promise<(result: ImportResult) => Promise<void>> {
  if (id === undefined) return async () => {};
  const unfinished = await connection.all<{ kind: ImportKind }>(CLOSE_UNFINISHED_SQL, id);
  return async (result) => {
    const [first] = unfinished;
    if (first !== undefined) await count(connection, first.kind, 'unfinished', unfinished.length);
    await closeImport(connection, id, 'done', result, clock());
  };
}

async function closeImport(
  connection: Connection,
  id: number,
  outcome: Exclude<ImportOutcome, 'begun' | 'unfinished'>,
  result: ImportResult,
  nowMs: number,
): Promise<void> {
  const [row] = await connection.all<{ kind: ImportKind; orgId: number | null; document: string }>(
    'SELECT kind, org_id AS "orgId", document FROM imports WHERE id = $1',
    id,
  );
  if (row === undefined) throw new Error(`import ${id} is not in the import log`);
  const document: Document = { ...(JSON.parse(row.document) as Document), ...result };
  await connection.all(
    'UPDATE imports SET outcome = $2, ended_at = $3, document = $4 WHERE id = $1',
    id,
    outcome,
    nowMs,
    JSON.stringify(document),
  );
  await count(connection, row.kind, outcome);
  await noteFeed(connection, { ...row, source: document.source }, outcome, nowMs);
}

/** Notes the end of an import in the freshness of its source, and in that of all imports with the same kind and organisation. */
export async function noteFeed(
  connection: Connection,
  { kind, orgId, source }: { kind: string; orgId: number | null; source: string | null },
  outcome: string,
  endedMs: number,
): Promise<void> {
  const successMs = outcome === 'done' ? endedMs : null;
  for (const name of new Set(['', source ?? '']))
    await connection.all(PUT_FEED_SQL, kind, orgId ?? 0, name, successMs, outcome, endedMs);
}

function toEntry({ document, ...row }: Row): ImportEntry {
  return { ...row, ...(JSON.parse(document) as Document) };
}
