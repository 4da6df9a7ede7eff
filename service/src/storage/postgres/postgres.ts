// The PostgreSQL implementation of Database: transactions, single statements and bulk writes on two connection pools. Several
// nodes can share one PostgreSQL database.

import type { SQL } from 'bun';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database, DatabaseOptions, SqlValue } from '../database.ts';
import { columnsOf, insertSql, keyOf, type RowOf, type Table, typeOf, upsertSql } from '../schema/table.ts';
import type { Statement } from '../sql.ts';
import { recordFailover, requireRecorded } from './failovers.ts';
import { WRITE_LOCK_SQL } from './inspect-postgres.ts';
import { POSTGRES_DIALECT } from './postgres-dialect.ts';
import { explainPostgres, isConnectionLoss, isCutOff } from './postgres-errors.ts';
import { openPool, type PostgresPool } from './postgres-pool.ts';
import { POSTGRES_SCHEMA } from './postgres-schema.ts';
import { addressesOf, type PostgresServer, parsePostgresUrl } from './postgres-url.ts';
import { searchServers } from './server-search.ts';

const WATCH_INTERVAL_MS = 500;
/** Maximum queue length per connection. With a longer queue, responses would arrive too late. */
const WAITING_EACH_MAX = 100;
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** Advisory lock for migrations: an arbitrary number, which other programs in the same database must not use. */
export const SCHEMA_LOCK = 0x0ff3_b00c;

/** Sends a statement through a pool or on a transaction's connection. */
type Send = <T>(start: (sql: SQL) => SQL.Query<T>) => PromiseLike<T & SQL.ResultMetadata>;
type Query = <Row>(send: Send, statement: Statement, params: readonly SqlValue[]) => Promise<Row[]>;

export function openPostgres(url: string, options: DatabaseOptions): Database {
  const parsed = parsePostgresUrl(url);
  const isThorough = options.statementTimeoutMs === 0 || options.access === 'read';
  const search = searchServers(parsed, options.role ?? 'primary', isThorough);
  const pool = openPool(parsed, search, options);
  // Pages have their own pool, so that other statements do not queue behind them.
  const pagePool =
    options.pageConnectionsMax === undefined
      ? pool
      : openPool(parsed, search, { ...options, connectionsMax: options.pageConnectionsMax });
  const waitingMax = WAITING_EACH_MAX * (options.connectionsMax + (options.pageConnectionsMax ?? 0));
  let waiting = 0;
  /** True once the timeline of the server has been recorded. Later ones must be recorded before a write. */
  let isTimelineRecorded = false;

  /** Retries once if the connection was cut off, because a pooled connection may have been closed long ago. */
  async function admitted<T>(attempt: () => Promise<T>, mayRepeat = () => true): Promise<T> {
    if (waiting >= waitingMax)
      throw new StorageError('overloaded', 'too many queries are waiting for PostgreSQL');
    waiting += 1;
    try {
      return await attempt().catch((error) => {
        if (isCutOff(error) && mayRepeat()) return attempt();
        throw error;
      });
    } catch (error) {
      throw explainPostgres(error, addressesOf(parsed));
    } finally {
      waiting -= 1;
    }
  }

  function transaction<T>(
    from: PostgresPool,
    begin: string,
    work: (connection: Connection) => Promise<T>,
    confirm: (server: PostgresServer) => Promise<void> = async () => {},
  ) {
    let isBegun = false;
    const attempt = () =>
      from.reserve(async (sql, server) => {
        await from.inTime(sql.unsafe(begin));
        isBegun = true;
        try {
          const result = await work(connection(from, sql, () => isTimelineRecorded));
          await confirm(server);
          await from.inTime(sql.unsafe('COMMIT'));
          return result;
        } catch (error) {
          // Releases the locks before the error reaches the caller. If the connection is lost, the server rolls back anyway.
          if (!isConnectionLoss(error) && !isStorageError(error, 'unavailable'))
            await from.inTime(sql.unsafe('ROLLBACK'));
          throw error;
        }
      });
    return admitted(attempt, () => !isBegun);
  }

  function single<Row>(from: PostgresPool, statement: Statement, params: readonly SqlValue[], query: Query) {
    return admitted(() => query<Row>((start) => from.query(start), statement, params));
  }

  return {
    sql: POSTGRES_DIALECT,
    schema: POSTGRES_SCHEMA,
    all: (statement, ...params) => single(pool, statement, params, queryRows),
    allWithBytes: (statement, ...params) => single(pagePool, statement, params, queryWithBytes),
    read: (work) => transaction(pagePool, SNAPSHOT, work),
    readOnce: (work) => transaction(pool, SNAPSHOT, work),
    write(work, lockTimeoutMs = options.lockTimeoutMs) {
      // PostgreSQL treats 0 as no timeout.
      const timeoutMs = Math.max(1, Math.ceil(lockTimeoutMs));
      const begin = `BEGIN; SET LOCAL lock_timeout = ${timeoutMs}`;
      // A server writes often, so it does not look for the primary before each write; the check every second is enough.
      if (!isThorough) return transaction(pool, begin, work);
      return search.refresh().then(() => transaction(pool, begin, work, (server) => search.confirm(server)));
    },
    watch(onChange) {
      const timer = setInterval(onChange, WATCH_INTERVAL_MS);
      return () => clearInterval(timer);
    },
    emptyLog: async () => {},
    async isWriteLockHeld() {
      return (await this.all(WRITE_LOCK_SQL)).length > 0;
    },
    pools: () => ({ pages: pagePool.use, other: pool.use }),
    rivals: () => search.rivals,
    async recordFailover(auditor) {
      if (await recordFailover(this, auditor)) isTimelineRecorded = true;
    },
    async describePlace() {
      // Queried from the server, so that no part of the URL can appear in a message.
      const sql = 'SELECT current_database() AS name, current_schema() AS schema';
      const [row] = await this.all<{ name: string; schema: string | null }>(sql);
      return `in the schema "${row?.schema ?? ''}" of the PostgreSQL database "${row?.name ?? ''}"`;
    },
    async close() {
      search.close();
      await Promise.all([...new Set([pool, pagePool])].map((each) => each.close()));
    },
  };
}

function connection(pool: PostgresPool, sql: SQL, isTimelineRecorded: () => boolean): Connection {
  const send: Send = (start) => pool.inTime(start(sql));
  const run = <Row>(statement: Statement, params: readonly SqlValue[]) =>
    queryRows<Row>(send, statement, params);
  return {
    all: (statement, ...params) => run(statement, params),
    allWithBytes: (statement, ...params) => queryWithBytes(send, statement, params),
    findMany(table, keys, ...first) {
      const names = columnsOf(table);
      const conditions = first.map((_, i) => `AND ${names[i]} = $${i + 2}`).join(' ');
      return run(`SELECT ${names.join(', ')} FROM ${whereKey(table, first.length)} ${conditions}`, [
        arrayText(keys),
        ...first,
      ]);
    },
    async putMany(table, rows) {
      await run(upsertSql(table, selectArrays(table)), arraysOf(table, rows));
    },
    async insertMany(table, rows) {
      await run(insertSql(table, selectArrays(table)), arraysOf(table, rows));
    },
    async deleteMany(table, keys) {
      await run(`DELETE FROM ${whereKey(table)}`, [arrayText(keys)]);
    },
    async lockSchema() {
      await run('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    },
    async requireRecordedTimeline() {
      if (isTimelineRecorded()) await requireRecorded(this);
    },
    async continueNumbers(table, lastNumberSql) {
      await run(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), (${lastNumberSql}))`, []);
    },
  };
}

/** Caches the SQL text of statements that are built by a function. */
const texts = new WeakMap<(sql: typeof POSTGRES_DIALECT) => string, string>();

function textOf(statement: Statement): string {
  if (typeof statement === 'string') return statement;
  return texts.getOrInsertComputed(statement, () => statement(POSTGRES_DIALECT));
}

/** Formats a list in PostgreSQL's array syntax, for a text parameter that is cast to an array. */
function arrayText(values: readonly SqlValue[]): string {
  const quoted = values.map((value) =>
    value === null ? 'NULL' : `"${String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(',')}}`;
}

/** A list is passed as one text parameter, so lists of any length share a prepared statement. */
function arrayParam(number: number, type: string): string {
  return `$${number}::text::${type}[]`;
}

/** SELECT that returns rows from one list per column. */
function selectArrays(table: Table): string {
  const arrays = columnsOf(table).map((name, i) => arrayParam(i + 1, typeOf(table, name)));
  // Needed for rows that come with their numbers; otherwise without effect.
  return `OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays.join(', ')})`;
}

function arraysOf<T extends Table>(table: T, rows: readonly RowOf<T>[]): string[] {
  return columnsOf(table).map((name) => arrayText(rows.map((row) => row[name] as SqlValue)));
}

/** Selects the rows whose key, the column at this index, is in the list $1. */
function whereKey(table: Table, index = 0): string {
  const key = keyOf(table)[index] ?? '';
  return `${table.name} WHERE ${key} = ANY(${arrayParam(1, typeOf(table, key))})`;
}

/** PostgreSQL type OIDs. */
const [INTEGER, BIGINT] = [23, 20];

/** Converts bigint columns, which the client returns as strings, to numbers. All stored values are safe integers. */
async function queryRows<Row>(send: Send, statement: Statement, params: readonly SqlValue[]): Promise<Row[]> {
  const text = textOf(statement);
  const rows = await send((sql) => sql.unsafe<Record<string, unknown>[]>(text, [...params]));
  for (const { name, type } of rows.columns ?? []) {
    if (type !== BIGINT) continue;
    for (const row of rows) if (row[name] !== null) row[name] = Number(row[name]);
  }
  return rows as unknown as Row[];
}

/**
 * Returns the column `data` as bytes. The client returns either all columns as bytes or none, so this function decodes the other
 * columns.
 */
async function queryWithBytes<Row>(
  send: Send,
  statement: Statement,
  params: readonly SqlValue[],
): Promise<Row[]> {
  const text = textOf(statement);
  const rows = await send((sql) => sql.unsafe<(Buffer | null)[][]>(text, [...params]).raw());
  const columns = rows.columns ?? [];
  const read = (bytes: Buffer | null, index: number) => {
    const { name, type } = columns[index] ?? { name: '', type: 0 };
    if (bytes === null || name === 'data') return [name, bytes];
    if (type === INTEGER) return [name, bytes.readInt32BE()];
    return [name, type === BIGINT ? Number(bytes.toString()) : bytes.toString()];
  };
  return rows.map((row) => Object.fromEntries(row.map(read)) as Row);
}
