// PostgreSQL, for several nodes, through postgres.js: a pool, prepared statements, LISTEN/NOTIFY.

import postgres from 'postgres';
import { BadInput, DatabaseUnavailable } from '../domain/errors.ts';
import {
  busy,
  type Connection,
  type Database,
  type DatabaseOptions,
  type SqlValue,
  upsertSql,
} from './database.ts';

const CHANNEL = 'offerbook';
/** What is missed while the listening connection is down is noticed by looking, this often. */
const WATCH_INTERVAL_MS = 500;
const CONNECT_TIMEOUT_S = 2;

type Pool = postgres.Sql<{ bigint: number }>;
type Transaction = postgres.TransactionSql<{ bigint: number }>;

export function openPostgres(url: string, options: DatabaseOptions): Database {
  const pool = postgres(url, {
    max: options.connectionsMax,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    backoff: (attempts) => Math.min(2, 0.1 * 2 ** attempts),
    connection: {
      application_name: 'offerbook',
      statement_timeout: options.statementTimeoutMs,
      lock_timeout: options.lockTimeoutMs,
      // A plan made for other parameters, or compiled first, can be a thousand times slower for a page.
      plan_cache_mode: 'force_custom_plan',
      jit: 'off',
    } as Partial<postgres.ConnectionParameters> as postgres.ConnectionParameters,
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    onnotice: () => {},
  });

  return {
    dialect: 'postgres',
    all: (sql, ...params) => explained(() => query(pool, sql, params)),
    read: (work) =>
      explained(() =>
        pool.begin('isolation level repeatable read read only', (tx) => work(connection(tx))),
      ) as never,
    write: (work) => explained(() => pool.begin((tx) => work(connection(tx)))) as never,
    watch(onChange) {
      let stopped = false;
      let unlisten: (() => Promise<void>) | undefined;
      // listen() subscribes again by itself after the connection was lost, and calls back when it has.
      pool.listen(CHANNEL, onChange, onChange).then(
        (subscription) => {
          unlisten = subscription.unlisten;
          if (stopped) void unlisten().catch(() => {});
        },
        () => {},
      );
      const timer = setInterval(onChange, WATCH_INTERVAL_MS);
      return () => {
        stopped = true;
        clearInterval(timer);
        void unlisten?.().catch(() => {});
      };
    },
    close: () => pool.end({ timeout: 5 }),
  };
}

function connection(tx: Transaction): Connection {
  return {
    all: (sql, ...params) => query(tx, sql, params),
    findMany(table, keys) {
      const names = table.columns.map(([name]) => name);
      const [key, type] = table.columns[0] ?? [];
      return query(tx, `SELECT ${names.join(', ')} FROM ${table.name} WHERE ${key} = ANY($1::${type}[])`, [
        keys,
      ]);
    },
    async putMany(table, rows) {
      const arrays = table.columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
      const columns = table.columns.map((_, i) => rows.map((row) => row[i] ?? null));
      const written = await query(tx, upsertSql(table, `SELECT * FROM unnest(${arrays})`), columns);
      return written.count;
    },
    async deleteMany(table, keys) {
      const [key, type] = table.columns[0] ?? [];
      await query(tx, `DELETE FROM ${table.name} WHERE ${key} = ANY($1::${type}[])`, [keys]);
    },
    async announce() {
      await query(tx, 'SELECT pg_notify($1, $2)', [CHANNEL, '']);
    },
  };
}

type Parameter = SqlValue | readonly SqlValue[];

function query<Row>(sql: Pool | Transaction, text: string, params: readonly Parameter[]) {
  return sql.unsafe(text, params as never[], { prepare: true }) as unknown as Promise<
    Row[] & { count: number }
  >;
}

async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explain(error);
  }
}

/** PostgreSQL's or the socket's own error as what it means to us. */
function explain(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  const message = error instanceof Error ? error.message : code;
  if (code === '55P03') return busy(error);
  if (code === '28P01' || code === '28000' || code === '3D000') {
    return new BadInput(`PostgreSQL refuses the connection: ${message}`, { cause: error });
  }
  const unreachable =
    /^(ECONN|EPIPE|ENOTFOUND|EHOST|ETIMEDOUT|ENOENT|CONNECT|CONNECTION_)/.test(code) || // the way there
    /^(08|53|57P|57014|25006)/.test(code); // broken connection, out of resources, shutting down, too slow, now a standby
  return unreachable
    ? new DatabaseUnavailable(`PostgreSQL cannot be used (${message})`, { cause: error })
    : error;
}
