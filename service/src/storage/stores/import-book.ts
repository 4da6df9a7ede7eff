// The import log: an entry for each import, opened before it begins and closed by its own transaction when it commits.
// Entries are deleted after 400 days. Counters of outcomes, in the table of revisions, and the freshness of each feed stay.

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
  type ImportTotals,
} from '../../domain/books.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Connection, Database, SqlValue } from '../database.ts';
import { inBoth } from '../sql-dialect.ts';
import { forgetSql, KEEP_MS } from './audit-book.ts';
import { DELETED_NUMBER } from './revision.ts';

/** Those that may be under way stay, because they must be able to close their entry. */
const FORGET_SQL = `${forgetSql('imports', 'began_at')} AND outcome <> 'begun'`;

/**
 * Whoever imported wants to hear of the error, not wait for the next import to end. An entry that could not be closed in
 * this time is closed as unfinished by the next import.
 */
const CLOSE_TIMEOUT_MS = 5_000;

/** What no query asks for, as JSON. */
type Document = Omit<ImportOrigin, 'kind' | 'orgId'> & ImportResult;

type Row = Omit<ImportEntry, keyof Document> & { readonly document: string };

const NO_COUNTS: ImportCounts = {
  read: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  stale: 0,
  withdrawn: 0,
  invalid: 0,
};
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

export function importBook(database: Database, clock: Clock): ImportLog {
  return {
    begin: ({ kind, orgId, ...origin }) =>
      database.write(async (connection) => {
        const nowMs = clock();
        await connection.all(FORGET_SQL, nowMs - KEEP_MS);
        const document: Document = { ...origin, ...NO_RESULT };
        const [row] = await connection.all<{ id: number }>(
          `INSERT INTO imports (kind, org_id, began_at, outcome, document) VALUES ($1, $2, $3, 'begun', $4)
           RETURNING id`,
          kind,
          orgId,
          nowMs,
          JSON.stringify(document),
        );
        if (row === undefined) throw new Error('an import was not entered into the book');
        return row.id;
      }),
    close: (id, outcome, result) =>
      database.write((connection) => closeImport(connection, id, outcome, result, clock()), CLOSE_TIMEOUT_MS),
    async find(id) {
      const [row] = await database.all<Row>(`${SELECT} WHERE i.id = $1`, id);
      return row === undefined ? undefined : toEntry(row);
    },
    async list({ kind, orgId, outcome, limit }) {
      const conditions: string[] = [];
      const params: SqlValue[] = [limit];
      for (const [column, value] of [
        ['i.kind', kind],
        ['i.org_id', orgId],
        ['i.outcome', outcome],
      ] as const) {
        if (value === undefined) continue;
        params.push(value);
        conditions.push(`${column} = $${params.length}`);
      }
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
      const rows = await database.all<Row>(`${SELECT} ${where} ORDER BY i.id DESC LIMIT $1`, ...params);
      return rows.map(toEntry);
    },
    async days(sinceMs) {
      const rows = await database.all<DayRow>(DAYS_SQL[database.dialect], sinceMs);
      return rows.map(({ dayMs, kind, imports, ...counts }) => ({ dayMs, kind, imports, counts }));
    },
    async totals() {
      const rows = await database.all<{ name: string; value: number }>(COUNTERS_SQL);
      const counters = new Map(rows.map(({ name, value }) => [name, value]));
      const feeds = await database.all<ImportFeed>(FEEDS_SQL, clock() - SOURCE_KEEP_MS);
      return { counts: countsOf(counters), feeds };
    },
  };
}

const DAY_MS = 86_400_000;
const COUNT_NAMES = Object.keys(NO_COUNTS) as (keyof ImportCounts)[];

type DayRow = Omit<ImportDay, 'counts'> & ImportCounts;

const DAYS_SQL = inBoth((dialect) => {
  const count = (name: string) =>
    dialect === 'sqlite'
      ? `json_extract(document, '$.counts.${name}')`
      : `(document::json #>> '{counts,${name}}')::bigint`;
  const sums = COUNT_NAMES.map(
    (name) => `sum(coalesce(${count(name)}, 0))${dialect === 'postgres' ? '::bigint' : ''} AS ${name}`,
  );
  return `SELECT began_at / ${DAY_MS} * ${DAY_MS} AS "dayMs", kind, count(*) AS imports, ${sums.join(', ')}
    FROM imports WHERE began_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`;
});

/** The counters, for a copy, too, with that of deleted organisations. */
export const COUNTERS_SQL = `SELECT name, value FROM revisions WHERE name LIKE 'imports %' OR name = '${DELETED_NUMBER}'`;

const counterOf = (kind: ImportKind, outcome: ImportOutcome) => `imports ${kind} ${outcome}`;

function countsOf(counters: ReadonlyMap<string, number>): ImportTotals['counts'] {
  return IMPORT_KINDS.flatMap((kind) =>
    IMPORT_OUTCOMES.filter((outcome) => outcome !== 'begun').map((outcome) => ({
      kind,
      outcome,
      count: counters.get(counterOf(kind, outcome)) ?? 0,
    })),
  );
}

/** A source without an import for this long was given up: its age must not raise alarms for ever. */
const SOURCE_KEEP_MS = 30 * DAY_MS;

/** The sources of each kind and organisation since $1; where there are none, all imports of the organisation as one feed. */
const FEEDS_SQL = `SELECT f.kind, o.name AS "orgName", nullif(f.source, '') AS source, f.last_success AS "lastSuccessMs",
    f.last_outcome AS "lastOutcome", f.last_ended AS "lastEndedMs"
  FROM import_feeds f LEFT JOIN organisations o ON o.id = f.org_id
  WHERE o.deleting_since IS NULL AND CASE f.source WHEN '' THEN NOT EXISTS (
    SELECT 1 FROM import_feeds s
    WHERE s.kind = f.kind AND s.org_id = f.org_id AND s.source <> '' AND s.last_ended > $1
  ) ELSE f.last_ended > $1 END
  ORDER BY f.kind, coalesce(o.name, ''), f.source`;

const PUT_FEED_SQL = `INSERT INTO import_feeds (kind, org_id, source, last_success, last_outcome, last_ended)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (kind, org_id, source) DO UPDATE SET last_outcome = excluded.last_outcome, last_ended = excluded.last_ended,
    last_success = coalesce(excluded.last_success, import_feeds.last_success)`;

/** Last in its transaction: every import of the kind waits for it until the commit. */
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
 * For those of the same kind and organisation that began before this one and were not closed: it has just been given its
 * turn, so that they have been killed. One that is merely waiting for its turn is told wrong for that long, and puts it
 * right when it ends.
 */
const CLOSE_UNFINISHED_SQL = `UPDATE imports SET outcome = 'unfinished'
  WHERE outcome = 'begun' AND id < $1
    AND kind = (SELECT kind FROM imports WHERE id = $1)
    AND coalesce(org_id, 0) = (SELECT coalesce(org_id, 0) FROM imports WHERE id = $1)
  RETURNING kind`;

/** Lets an import close its entry in the transaction in which it was given its turn. */
export async function takeTurn(
  connection: Connection,
  clock: Clock,
  id: number | undefined,
): Promise<(result: ImportResult) => Promise<void>> {
  if (id === undefined) return async () => {};
  const unfinished = await connection.all<Pick<Row, 'kind'>>(CLOSE_UNFINISHED_SQL, id);
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
  const [row] = await connection.all<Pick<Row, 'kind' | 'orgId' | 'document'>>(
    'SELECT kind, org_id AS "orgId", document FROM imports WHERE id = $1',
    id,
  );
  if (row === undefined) throw new Error(`import ${id} is not in the book`);
  const document: Document = { ...(JSON.parse(row.document) as Document), ...result };
  await connection.all(
    'UPDATE imports SET outcome = $2, ended_at = $3, document = $4 WHERE id = $1',
    id,
    outcome,
    nowMs,
    JSON.stringify(document),
  );
  await count(connection, row.kind, outcome);
  const successMs = outcome === 'done' ? nowMs : null;
  for (const source of new Set(['', document.source ?? '']))
    await connection.all(PUT_FEED_SQL, row.kind, row.orgId ?? 0, source, successMs, outcome, nowMs);
}

function toEntry({ document, ...row }: Row): ImportEntry {
  const { counts, ...rest } = JSON.parse(document) as Document;
  // Entries of earlier programs lack the counts that came later.
  return { ...row, ...rest, counts: { ...NO_COUNTS, ...counts } };
}
