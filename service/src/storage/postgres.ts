// PostgreSQL, for several nodes, through postgres.js: a pool, prepared statements, LISTEN/NOTIFY.

import postgres from 'postgres';
import { BadInput, DatabaseUnavailable } from '../domain/errors.ts';
import {
  type Connection,
  type Database,
  type DatabaseOptions,
  type SqlValue,
  upsertSql,
} from './database.ts';
import { explainPostgres, isConnectionLoss, isCutOff } from './postgres-errors.ts';
import { type DriverOptions, PostgresSockets } from './postgres-sockets.ts';
import { parsePostgresUrl } from './postgres-url.ts';

const CHANNEL = 'offerbook';
/** What is missed while the listening connection is down is noticed by looking, this often. */
const WATCH_INTERVAL_MS = 500;
const CONNECT_TIMEOUT_S = 2;
/** How much longer than the server's own statement timeout we wait for a server that has stopped answering. */
const ANSWER_GRACE_MS = 1_000;
/** How long it may take until the driver has heard that a silent connection was cut off. */
const CUT_OFF_MS = 100;
const BACKOFF_MIN_S = 0.05;
const BACKOFF_MAX_S = 0.5;
/** How many may wait for a connection, for each that there can be: those who come later would be answered too late. */
const WAITING_EACH_MAX = 100;

/**
 * A wide page is several small statements with one sensible plan each (the tests of the plans see to that):
 * planning them anew for every page would take as long as running them.
 */
const READ_PROLOGUE = 'SET LOCAL plan_cache_mode = force_generic_plan';

type Pool = postgres.Sql<{ bigint: number }>;
type Parameter = SqlValue | readonly SqlValue[];
type Rows<Row> = Row[] & { count: number };
type InTime = <T>(answer: Promise<T>) => Promise<T>;
type RunQuery = <Row>(text: string, params: readonly Parameter[]) => Promise<Rows<Row>>;

export function openPostgres(url: string, options: DatabaseOptions): Database {
  const { pool, sockets } = openPool(url, options);
  const answerTimeoutMs = options.statementTimeoutMs === 0 ? 0 : options.statementTimeoutMs + ANSWER_GRACE_MS;
  const waitingMax = WAITING_EACH_MAX * options.connectionsMax;
  let waiting = 0;

  /** The server ends what takes too long by itself, unless it is frozen or the network swallows everything. */
  const inTime: InTime = (answer) => {
    if (answerTimeoutMs === 0) return answer;
    return raced(answer, answerTimeoutMs, () => sockets.cutOffSilent(answerTimeoutMs));
  };

  async function admitted<T>(run: () => Promise<T>): Promise<T> {
    if (waiting >= waitingMax) throw new DatabaseUnavailable('too many others are waiting for PostgreSQL');
    waiting += 1;
    try {
      return await run();
    } catch (error) {
      throw explainPostgres(error);
    } finally {
      waiting -= 1;
    }
  }

  function transaction<T>(mode: string, prologue: string, work: (connection: Connection) => Promise<T>) {
    let started = false;
    const attempt = () =>
      inTransaction(pool, mode, prologue, inTime, (connection) => {
        started = true;
        return work(connection);
      });
    return admitted(() => againIfCutOff(attempt, () => !started));
  }

  return {
    dialect: 'postgres',
    all: (sql, ...params) =>
      admitted(() =>
        againIfCutOff(
          () => inTime(runOn(pool, sql, params)),
          () => true,
        ),
      ),
    read: (work) => transaction('isolation level repeatable read read only', READ_PROLOGUE, work),
    write(work, lockTimeoutMs = options.lockTimeoutMs) {
      // To PostgreSQL, 0 would mean for ever.
      return transaction('', `SET LOCAL lock_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs))}`, work);
    },
    watch: (onChange) => watchPool(pool, onChange),
    async close() {
      await pool.end({ timeout: 5 });
      sockets.close();
    },
  };
}

function openPool(text: string, options: DatabaseOptions): { pool: Pool; sockets: PostgresSockets } {
  const { url, tls, addresses } = parsePostgresUrl(text);
  const sockets = new PostgresSockets(addresses);
  try {
    const pool = postgres(url, {
      max: options.connectionsMax,
      ssl: tls,
      socket: (only: DriverOptions) => sockets.open(only),
      connect_timeout: CONNECT_TIMEOUT_S,
      idle_timeout: 60,
      backoff: (attempts) => Math.min(BACKOFF_MAX_S, BACKOFF_MIN_S * 2 ** attempts),
      connection: {
        application_name: 'offerbook',
        // A client that has vanished without a word must not keep its locks for hours.
        tcp_keepalives_idle: '10',
        tcp_keepalives_interval: '5',
        tcp_keepalives_count: '3',
        statement_timeout: options.statementTimeoutMs,
        synchronous_commit: options.durable ? 'on' : 'off',
        // A plan made for other parameters, or compiled first, can be a thousand times slower for a page.
        plan_cache_mode: 'force_custom_plan',
        jit: 'off',
        // Every query here reads the first few entries of an index. A table without statistics, such as one
        // that was just loaded, makes the planner collect and sort all of them instead.
        enable_bitmapscan: 'off',
        max_parallel_workers_per_gather: '0',
      } as Partial<postgres.ConnectionParameters> as postgres.ConnectionParameters,
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      onnotice: () => {},
    } as postgres.Options<{ bigint: postgres.PostgresType<number> }>);
    return { pool, sockets };
  } catch {
    sockets.close();
    // Neither the URL nor the parser's own message: it repeats the URL, and that holds a password.
    throw new BadInput(
      'the database URL is malformed; it looks like postgres://user:password@host:5432/name',
    );
  }
}

/**
 * Runs work between BEGIN and COMMIT. When the connection is lost on the way, the driver has rejected the
 * transaction but would still send what follows, the ROLLBACK included, on whatever takes the lost
 * connection's place: nothing at all (which ends the process) or somebody else's transaction. So from then on
 * nothing is sent, and the driver never hears how the work ended.
 */
function inTransaction<T>(
  pool: Pool,
  mode: string,
  prologue: string,
  inTime: InTime,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let lost = false;
    const begun = Promise.withResolvers<void>();
    const transaction = pool.begin(mode, (tx) => {
      begun.resolve();
      const run: RunQuery = async (text, params) => {
        if (lost)
          throw new DatabaseUnavailable(
            'the connection to PostgreSQL was lost in the middle of a transaction',
          );
        try {
          return await inTime(runOn(tx, text, params));
        } catch (error) {
          lost ||= isConnectionLoss(error);
          if (error instanceof DatabaseUnavailable) {
            // Rolling back would wait for the same silence, so the caller is told now.
            reject(error);
            await Promise.race([transaction.catch(() => {}), Bun.sleep(CUT_OFF_MS)]);
          }
          throw error;
        }
      };
      return new Promise((commit, rollBack) => {
        if (prologue !== '') run(prologue, []).catch(rollBack);
        work(connection(run)).then(
          (result) => lost || end(() => commit(result)),
          (error) => lost || end(() => rollBack(error)),
        );
      });
    });
    // The driver's own BEGIN, COMMIT and ROLLBACK must be answered in time too.
    const end = (tell: () => void) => {
      tell();
      inTime(transaction).catch(reject);
    };
    inTime(Promise.race([begun.promise, transaction])).catch(reject);
    transaction.then(
      (result) => resolve(result as T),
      (error) => {
        lost = true;
        reject(error);
      },
    );
  });
}

function connection(run: RunQuery): Connection {
  return {
    all: (sql, ...params) => run(sql, params),
    findMany(table, keys) {
      const names = table.columns.map(([name]) => name);
      const [key, type] = table.columns[0] ?? [];
      return run(`SELECT ${names.join(', ')} FROM ${table.name} WHERE ${key} = ANY($1::${type}[])`, [keys]);
    },
    async putMany(table, rows) {
      const arrays = table.columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
      const columns = table.columns.map((_, i) => rows.map((row) => row[i] ?? null));
      return (await run(upsertSql(table, `SELECT * FROM unnest(${arrays})`), columns)).count;
    },
    async deleteMany(table, keys) {
      const [key, type] = table.columns[0] ?? [];
      await run(`DELETE FROM ${table.name} WHERE ${key} = ANY($1::${type}[])`, [keys]);
    },
    async announce() {
      await run('SELECT pg_notify($1, $2)', [CHANNEL, '']);
    },
  };
}

function runOn<Row>(
  sql: Pool | postgres.TransactionSql<{ bigint: number }>,
  text: string,
  params: readonly Parameter[],
): Promise<Rows<Row>> {
  return sql.unsafe(text, params as never[], { prepare: true }) as unknown as Promise<Rows<Row>>;
}

/**
 * A pooled connection may have been cut off without our noticing, and the driver hands an old connection's
 * last error to its next user: one more attempt tells such a thing from a server that is not there.
 */
async function againIfCutOff<T>(attempt: () => Promise<T>, mayRepeat: () => boolean): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isCutOff(error) || !mayRepeat()) throw error;
    return attempt();
  }
}

/** The answer, or an error if there is none in time; then whatever is to be done about the silence. */
async function raced<T>(answer: Promise<T>, timeoutMs: number, onSilence: () => void): Promise<T> {
  let timer: Timer | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseUnavailable(`PostgreSQL has not answered for ${timeoutMs} ms`));
      onSilence();
    }, timeoutMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function watchPool(pool: Pool, onChange: () => void): () => void {
  let stopped = false;
  let unlisten: (() => Promise<void>) | undefined;
  const call = () => {
    if (!stopped) onChange();
  };
  // listen() subscribes again by itself after the connection was lost, and calls back when it has.
  pool.listen(CHANNEL, call, call).then(
    (subscription) => {
      unlisten = subscription.unlisten;
      if (stopped) void unlisten().catch(() => {});
    },
    () => {},
  );
  const timer = setInterval(call, WATCH_INTERVAL_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
    void unlisten?.().catch(() => {});
  };
}
