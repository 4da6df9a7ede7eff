// PostgreSQL, for several nodes, through postgres.js: a pool, prepared statements, LISTEN/NOTIFY.

import type postgres from 'postgres';
import { DatabaseUnavailable } from '../../domain/failures.ts';
import {
  type Connection,
  type Database,
  type DatabaseOptions,
  type SqlValue,
  upsertSql,
} from '../database.ts';
import { arrayText } from '../sql-dialect.ts';
import { answerBrokenOff, explainPostgres, isConnectionLoss, isCutOff } from './postgres-errors.ts';
import { type Driver, type InTime, PostgresPool } from './postgres-pool.ts';

const CHANNEL = 'offerbook';
/** What is missed while the listening connection is down is noticed by looking, this often. */
const WATCH_INTERVAL_MS = 500;
/** How much longer than the server's own statement timeout we wait for a server that has stopped answering. */
const ANSWER_GRACE_MS = 1_000;
/** How long it may take until the driver has heard that a silent connection was cut off. */
const CUT_OFF_MS = 100;
/** How many may wait for a connection, for each that there can be: those who come later would be answered too late. */
const WAITING_EACH_MAX = 100;

type Rows<Row> = Row[] & { count: number };
type RunQuery = <Row>(text: string, params: readonly SqlValue[], query?: Query) => Promise<Rows<Row>>;
type Query = typeof queryRows;

export function openPostgres(url: string, options: DatabaseOptions): Database {
  const pool = new PostgresPool(url, options);
  // Apart, so that pages may queue up on their connections and nothing else has to wait behind them.
  const pagePool =
    options.pageConnectionsMax === undefined
      ? pool
      : new PostgresPool(url, { ...options, connectionsMax: options.pageConnectionsMax });
  const answerTimeoutMs = options.statementTimeoutMs === 0 ? 0 : options.statementTimeoutMs + ANSWER_GRACE_MS;
  const waitingMax = WAITING_EACH_MAX * (options.connectionsMax + (options.pageConnectionsMax ?? 0));
  let waiting = 0;

  /** The server ends what takes too long by itself, unless it is frozen or the network swallows everything. */
  const inTime =
    ({ sockets }: PostgresPool): InTime =>
    (answer) => {
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

  function transaction<T>(
    from: PostgresPool,
    mode: string,
    prologue: string,
    work: (connection: Connection) => Promise<T>,
  ) {
    let started = false;
    const attempt = () =>
      from.use(
        (sql) =>
          inTransaction(sql, mode, prologue, inTime(from), (connection) => {
            started = true;
            return work(connection);
          }),
        { isAlone: true, inTime: inTime(from) },
      );
    return admitted(() => againIfCutOff(attempt, () => !started));
  }

  function single<Row>(
    from: PostgresPool,
    sql: string,
    params: readonly SqlValue[],
    query: Query,
  ): Promise<Row[]> {
    const answered = inTime(from);
    const attempt = () =>
      from.use((driver) => answered(query<Row>(driver, sql, params)), { inTime: answered });
    return admitted(() => againIfCutOff(attempt, () => true));
  }

  const snapshot = 'isolation level repeatable read read only';

  return {
    dialect: 'postgres',
    all: (sql, ...params) => single(pool, sql, params, queryRows),
    allWithBytes: (sql, ...params) => single(pagePool, sql, params, queryWithBytes),
    read: (work) => transaction(pagePool, snapshot, '', work),
    readOnce: (work) => transaction(pool, snapshot, '', work),
    write(work, lockTimeoutMs = options.lockTimeoutMs) {
      // To PostgreSQL, 0 would mean for ever.
      return transaction(pool, '', `SET LOCAL lock_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs))}`, work);
    },
    watch: (onChange) => watch(pool.listener, onChange),
    async describePlace() {
      // Asked of the server, so that no part of the URL can end up in a message.
      const sql = 'SELECT current_database() AS name, current_schema() AS schema';
      const [row] = await single<{ name: string; schema: string | null }>(pool, sql, [], queryRows);
      return `in the schema "${row?.schema ?? ''}" of the PostgreSQL database "${row?.name ?? ''}"`;
    },
    async close() {
      await Promise.all([...new Set([pool, pagePool])].map((each) => each.close()));
    },
  };
}

/**
 * Runs work between BEGIN and COMMIT. When the connection is lost on the way, the driver has rejected the
 * transaction but would still send what follows, the ROLLBACK included, on whatever takes the lost
 * connection's place: nothing at all (which ends the process) or somebody else's transaction. So from then on
 * nothing is sent, and the driver never hears how the work ended.
 */
function inTransaction<T>(
  sql: Driver,
  mode: string,
  prologue: string,
  inTime: InTime,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let lost = false;
    const begun = Promise.withResolvers<void>();
    const transaction = sql.begin(mode, (tx) => {
      begun.resolve();
      const run: RunQuery = async (text, params, query = queryRows) => {
        if (lost)
          throw new DatabaseUnavailable(
            'the connection to PostgreSQL was lost in the middle of a transaction',
          );
        try {
          return await inTime(query(tx, text, params));
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
    allWithBytes: (sql, ...params) => run(sql, params, queryWithBytes),
    findMany(table, keys) {
      const names = table.columns.map(([name]) => name);
      const [key, type] = table.columns[0] ?? [];
      return run(`SELECT ${names.join(', ')} FROM ${table.name} WHERE ${key} = ANY(${arrayParam(1, type)})`, [
        arrayText(keys),
      ]);
    },
    async putMany(table, rows) {
      const arrays = table.columns.map(([, type], i) => arrayParam(i + 1, type)).join(', ');
      const columns = table.columns.map((_, i) => arrayText(rows.map((row) => row[i] ?? null)));
      return (await run(upsertSql(table, `SELECT * FROM unnest(${arrays})`), columns)).count;
    },
    async deleteMany(table, keys) {
      const [key, type] = table.columns[0] ?? [];
      await run(`DELETE FROM ${table.name} WHERE ${key} = ANY(${arrayParam(1, type)})`, [arrayText(keys)]);
    },
    async announce() {
      await run('SELECT pg_notify($1, $2)', [CHANNEL, '']);
    },
  };
}

/** Arrays are sent as text: the driver could do it only if it read a list of types first on every connection. */
function arrayParam(number: number, type: string | undefined): string {
  return `$${number}::text::${type}[]`;
}

/** What the driver says of an answer; nothing about the command until it has been carried out. */
interface Answer {
  readonly command: string | null;
  readonly count: number | null;
  readonly length: number;
}

type Queryable = Driver | postgres.TransactionSql<{ bigint: number }>;

async function queryRows<Row>(sql: Queryable, text: string, params: readonly SqlValue[]): Promise<Rows<Row>> {
  const rows = await sql.unsafe(text, params as never[], { prepare: true });
  assertWhole(rows);
  return rows as unknown as Rows<Row>;
}

/** The driver hands out all columns as bytes or none, so the others are read here as it would have done. */
async function queryWithBytes<Row>(
  sql: Queryable,
  text: string,
  params: readonly SqlValue[],
): Promise<Rows<Row>> {
  const rows = await sql.unsafe(text, params as never[], { prepare: true }).raw();
  assertWhole(rows);
  const columns = rows.columns as unknown as readonly { name: string; parser?: (text: string) => unknown }[];
  const read = (bytes: Buffer | null, index: number) => {
    const { name, parser = String } = columns[index] ?? { name: '' };
    return [name, bytes === null || name === 'data' ? bytes : parser(bytes.toString())];
  };
  const found = rows.map((row) => Object.fromEntries((row as (Buffer | null)[]).map(read)) as Row);
  return Object.assign(found, { count: rows.count });
}

/**
 * After an answer that broke off, the driver (postgres 3.4) goes on counting its rows, and puts those of the next one
 * behind as many empty places. Taken for right, that would be a page without transactions.
 */
function assertWhole({ command, count, length }: Answer): void {
  // Without rows, what was counted are those that a statement has changed.
  const expected = length === 0 && command !== 'SELECT' ? 0 : (count ?? length);
  if (command === null || length !== expected) throw answerBrokenOff();
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

function watch(listener: Promise<Driver>, onChange: () => void): () => void {
  let stopped = false;
  let unlisten: (() => Promise<void>) | undefined;
  const call = () => {
    if (!stopped) onChange();
  };
  // listen() subscribes again by itself after the connection was lost, and calls back when it has.
  listener
    .then((sql) => sql.listen(CHANNEL, call, call))
    .then(
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
