// State of pulls; see domain/pull.ts. `offerbook copy` leaves out leases and budgets, which are short-lived, and request counts,
// which may restart at 0.

import { Refused } from '@offerbook/wire/failures.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  addCounts,
  NO_COUNTS,
  type PulledRow,
  type PullState,
  type PullStore,
  type PullWriter,
  type RequestBudget,
  type RequestOutcome,
  type SourceRequests,
  type StreamKey,
} from '../../domain/pull.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { PULL_ROWS, PULL_STREAMS } from '../schema/tables.ts';
import type { Statement } from '../sql.ts';
import { fenceLease } from './lease-store.ts';

interface StateRow extends Pick<PullState, keyof StreamKey | 'orgName' | 'completeThroughMs'> {
  readonly document: string;
}

type StreamState = Omit<PullState, keyof StreamKey | 'orgName'>;

const NEW_STREAM: StreamState = {
  completeThroughMs: null,
  lastSuccessMs: null,
  attemptMs: null,
  tryingSinceMs: null,
  counts: NO_COUNTS,
  error: null,
  failedAtMs: null,
  runMs: null,
  everyMs: null,
  suspects: [],
  suspectedAtMs: null,
};

/** These fields have no column of their own; they are stored as JSON. */
const { completeThroughMs: _, ...DOCUMENT } = NEW_STREAM;
const DOCUMENT_FIELDS = Object.keys(DOCUMENT) as (keyof typeof DOCUMENT)[];

const KILLED = 'the process that was pulling ended without a result; it was probably killed';

const SELECT = `SELECT p.source, p.org_id AS "orgId", p.stream, o.name AS "orgName",
    p.complete_through AS "completeThroughMs", p.document
  FROM pull_streams p LEFT JOIN organisations o ON o.id = p.org_id`;
const FIND_SQL = `${SELECT} WHERE p.source = $1 AND p.org_id = $2 AND p.stream = $3`;
const LIST_SQL = `${SELECT} ORDER BY p.source, p.org_id, p.stream`;

/** $2: now, $3: the interval, $4: the burst. */
const RESERVE_SQL = `INSERT INTO pull_budgets (credential, next_at, interval_ms, burst)
  VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint), CAST($3 AS bigint), $4)
  ON CONFLICT (credential) DO UPDATE SET interval_ms = excluded.interval_ms, burst = excluded.burst,
    next_at = excluded.interval_ms +
      CASE WHEN pull_budgets.next_at < CAST($2 AS bigint) THEN CAST($2 AS bigint) ELSE pull_budgets.next_at END
  RETURNING next_at AS "nextAtMs"`;
const BLOCK_SQL = `INSERT INTO pull_budgets (credential, next_at, interval_ms, burst) VALUES ($1, $2, $3, $4)
  ON CONFLICT (credential) DO UPDATE SET next_at = excluded.next_at WHERE pull_budgets.next_at < excluded.next_at`;

const COUNT_REQUEST_SQL = `INSERT INTO pull_requests (source, credential, outcome, count) VALUES ($1, $2, $3, 1)
  ON CONFLICT (source, credential, outcome) DO UPDATE SET count = pull_requests.count + 1`;
const REQUESTS_SQL = `SELECT r.source, r.outcome, r.count, b.next_at AS "nextAtMs", b.interval_ms AS "intervalMs", b.burst
  FROM pull_requests r LEFT JOIN pull_budgets b ON b.credential = r.credential ORDER BY r.source, b.next_at`;

const ROWS_SQL: Statement = ({ isOneOf, valuesTable }) => `
  SELECT sale_id AS "saleId", part_id AS "partId", org_id AS "orgId", sub_id AS "subId", due_at AS "dueAtMs", document
    FROM pull_rows WHERE source = $1 AND sale_id ${isOneOf(`SELECT value FROM ${valuesTable('$2', 'text')}`)}
     AND (CAST($3 AS integer) IS NULL OR org_id = $3)
   ORDER BY sale_id, part_id`;
const CLEAR_DUE_SQL: Statement = ({ isOneOf, valuesTable }) => `
  UPDATE pull_rows SET due_at = NULL
   WHERE source = $1 AND sale_id ${isOneOf(`SELECT value FROM ${valuesTable('$2', 'text')}`)}`;

export function pullStore(database: Database, clock: Clock): PullStore {
  return {
    async list() {
      return (await database.all<StateRow>(LIST_SQL)).map(toState);
    },
    find: (key) => findState(database, key),
    noteAttempt: (keys) =>
      database.write(async (connection) => {
        const attemptMs = clock();
        for (const key of keys)
          await changeState(connection, key, (before) => ({
            ...before,
            attemptMs,
            tryingSinceMs: before.tryingSinceMs ?? attemptMs,
            ...(before.tryingSinceMs !== null &&
              before.error === null && { error: KILLED, failedAtMs: before.attemptMs }),
          }));
      }),
    noteFailure: (key, error) =>
      database.write(async (connection) => {
        const failedAtMs = clock();
        let tryingSinceMs = failedAtMs;
        await changeState(connection, key, (before) => {
          tryingSinceMs = before.tryingSinceMs ?? before.attemptMs ?? failedAtMs;
          return { ...before, error, failedAtMs, tryingSinceMs };
        });
        return tryingSinceMs;
      }),
    noteReread: (key, { completeThroughMs, suspects }) =>
      database.write((connection) =>
        changeState(connection, key, ({ counts, attemptMs }) => {
          const lastSuccessMs = clock();
          const suspectedAtMs = suspects.length === 0 ? null : lastSuccessMs;
          const state = { completeThroughMs, lastSuccessMs, attemptMs, counts, suspects, suspectedAtMs };
          return { ...NEW_STREAM, ...state };
        }),
      ),
    reserveRequest: (credential, { intervalMs, burst }) =>
      database.write(async (connection) => {
        const nowMs = clock();
        const values = [credential, nowMs, intervalMs, burst];
        const [row] = await connection.all<{ nextAtMs: number }>(RESERVE_SQL, ...values);
        return Math.max(nowMs, (row?.nextAtMs ?? nowMs) - burst * intervalMs);
      }),
    blockRequests: (credential, { intervalMs, burst }: RequestBudget, untilMs) =>
      database.write(async (connection) => {
        // The next request is then due at `untilMs`, without a burst.
        const nextAtMs = untilMs + (burst - 1) * intervalMs;
        await connection.all(BLOCK_SQL, credential, nextAtMs, intervalMs, burst);
      }),
    countRequest: (source, credential, outcome) =>
      database.write(async (connection) => {
        await connection.all(COUNT_REQUEST_SQL, source, credential, outcome);
      }),
    async listRequests() {
      const rows = await database.all<RequestsRow>(REQUESTS_SQL);
      return [...Map.groupBy(rows, ({ source }) => source)].map(toRequests);
    },
    rowsOf: (source, saleIds, orgId) =>
      database.all<PulledRow>(ROWS_SQL, source, JSON.stringify(saleIds), orgId ?? null),
    async dueSales(source, nowMs, limit, orgId) {
      const rows = await database.all<{ saleId: string }>(
        `SELECT sale_id AS "saleId" FROM pull_rows WHERE source = $1 AND due_at <= $2
           AND (CAST($4 AS integer) IS NULL OR org_id = $4)
         GROUP BY sale_id ORDER BY min(due_at) LIMIT $3`,
        source,
        nowMs,
        limit,
        orgId ?? null,
      );
      return rows.map(({ saleId }) => saleId);
    },
  };
}

interface RequestsRow {
  readonly source: string;
  readonly outcome: RequestOutcome;
  readonly count: number;
  readonly nextAtMs: number | null;
  readonly intervalMs: number | null;
  readonly burst: number | null;
}

/** A source may have had several credentials. Returns the budget of the one used last. */
function toRequests([source, rows]: [string, RequestsRow[]]): SourceRequests {
  const counts = { ok: 0, 'too many': 0, failed: 0, refused: 0 };
  let budget: SourceRequests['budget'] = null;
  for (const { outcome, count, nextAtMs, intervalMs, burst } of rows) {
    counts[outcome] += count;
    if (nextAtMs === null || intervalMs === null || burst === null) continue;
    if (budget === null || nextAtMs >= budget.nextAtMs) budget = { nextAtMs, intervalMs, burst };
  }
  return { source, counts, budget };
}

export function pullWriter(connection: Connection, clock: Clock): PullWriter {
  return {
    async holdLease({ source, holder }) {
      if (!(await fenceLease(connection, source, holder)))
        throw new Refused(`another process has taken over the pull of ${source}`);
    },
    advance: (key, { completeThroughMs, counts, runMs }) =>
      changeState(connection, key, (before) => ({
        ...NEW_STREAM,
        completeThroughMs,
        lastSuccessMs: clock(),
        attemptMs: before.attemptMs ?? runMs,
        counts: addCounts(before.counts, counts),
        runMs,
        everyMs: before.runMs === null || before.runMs === runMs ? before.everyMs : runMs - before.runMs,
      })),
    async putRows(source, rows) {
      await connection.putMany(
        PULL_ROWS,
        rows.map(({ saleId, partId, orgId, subId, dueAtMs, document }) => ({
          source,
          sale_id: saleId,
          part_id: partId,
          org_id: orgId,
          sub_id: subId,
          due_at: dueAtMs,
          seen_at: clock(),
          document,
        })),
      );
    },
    async forget(source) {
      for (const table of ['pull_streams', 'pull_requests'])
        await connection.all(`DELETE FROM ${table} WHERE source = $1`, source);
    },
    async clearDue(source, saleIds) {
      await connection.all(CLEAR_DUE_SQL, source, JSON.stringify(saleIds));
    },
  };
}

async function findState(
  queries: Queries,
  { source, orgId, stream }: StreamKey,
): Promise<PullState | undefined> {
  const [row] = await queries.all<StateRow>(FIND_SQL, source, orgId, stream);
  return row === undefined ? undefined : toState(row);
}

/** Applies `change` to the state of a stream, which may be new, and stores the result. */
async function changeState(
  connection: Connection,
  key: StreamKey,
  change: (before: StreamState) => StreamState,
): Promise<void> {
  const { source, orgId, stream } = key;
  const after = change((await findState(connection, key)) ?? NEW_STREAM);
  const { completeThroughMs: complete_through } = after;
  const fields = DOCUMENT_FIELDS.map((name) => [name, after[name]]);
  const document = JSON.stringify(Object.fromEntries(fields));
  await connection.putMany(PULL_STREAMS, [{ source, org_id: orgId, stream, complete_through, document }]);
}

function toState({ document, ...row }: StateRow): PullState {
  // Documents of earlier versions lack some fields.
  return { ...NEW_STREAM, ...row, ...(JSON.parse(document) as Partial<StreamState>) };
}
