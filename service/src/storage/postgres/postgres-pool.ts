// Connections to PostgreSQL, and which of them a statement goes to. Each has a driver of its own: among several
// connections, the driver (postgres 3.4) keeps lists that grow with every statement until they are empty for once, and
// searches them. With always more to do than connections, a statement took 35 µs at first, and 290 after 600,000 of them.
// When a connection was lost, new ones take over from all of them: the driver keeps what it was about to
// send, and the connection that takes the lost one's place is then of no use for seconds.

import type { Socket } from 'node:net';
import type postgres from 'postgres';
import { BadInput, DatabaseUnavailable } from '../../domain/failures.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseOptions } from '../database.ts';
import { isCutOff } from './postgres-errors.ts';
import { type DriverOptions, PostgresSockets } from './postgres-sockets.ts';
import { type PostgresUrl, parsePostgresUrl } from './postgres-url.ts';

export type Driver = postgres.Sql<{ bigint: number }>;

const CONNECT_TIMEOUT_S = 2;
const BACKOFF_MIN_S = 0.05;
const BACKOFF_MAX_S = 0.5;
/** How long one of several servers may take to say what it is. */
const PROBE_TIMEOUT_S = 1;

/**
 * How many statements are sent to a connection at once: PostgreSQL finds the next one there when it has done the first.
 * With more than two, the driver's list of those that were sent would grow as well.
 */
export const SENT_MAX = 2;

interface Opened {
  readonly sql: Promise<Driver>;
  readonly end: () => Promise<void>;
}

interface Line extends Opened {
  /** Those who use it now. */
  users: number;
  /** A transaction is under way: what is sent now has to wait for its end. */
  isTaken: boolean;
  /** Of the connections that are used for what comes next. */
  isCurrent: boolean;
}

interface Waiting {
  readonly isAlone: boolean;
  readonly enter: (line: Line) => void;
}

/** Waits for an answer, but not for ever. */
export type InTime = <T>(answer: Promise<T>) => Promise<T>;

export class PostgresPool {
  readonly sockets: PostgresSockets;
  readonly #open: () => Opened;
  readonly #linesMax: number;
  #lines: Line[] = [];
  readonly #waiting: Waiting[] = [];
  #listener: Promise<Driver> | undefined;

  constructor(text: string, options: DatabaseOptions) {
    const url = parsePostgresUrl(text);
    const role = options.role ?? 'primary';
    this.sockets = new PostgresSockets(url.servers, (each) => hasRole(each, role));
    this.#open = () => openDriver(url, this.sockets, options);
    this.#linesMax = options.connectionsMax;
  }

  /** For notifications, which the driver receives on a connection apart from the others. */
  get listener(): Promise<Driver> {
    this.#listener ??= this.#open().sql;
    return this.#listener;
  }

  /** Whoever is to be alone gets a connection on which nobody else begins anything meanwhile. */
  async use<T>(
    work: (sql: Driver) => Promise<T>,
    { isAlone = false, inTime }: { readonly isAlone?: boolean; readonly inTime: InTime },
  ): Promise<T> {
    const entering = this.#enter(isAlone);
    const line = await inTime(entering).catch((error: unknown) => {
      void entering.then((late) => this.#leave(late, isAlone));
      throw error;
    });
    try {
      return await work(await line.sql);
    } catch (error) {
      if (isCutOff(error) && line.isCurrent) this.#replaceAll();
      throw error;
    } finally {
      this.#leave(line, isAlone);
    }
  }

  #enter(isAlone: boolean): Promise<Line> {
    return new Promise((enter) => {
      this.#waiting.push({ isAlone, enter });
      this.#letIn();
    });
  }

  #letIn(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const line = this.#findLine();
      if (line === undefined) return;
      this.#waiting.shift();
      line.users += 1;
      line.isTaken ||= next.isAlone;
      next.enter(line);
    }
  }

  /** One that nobody uses, a new one, or the one with the fewest users. */
  #findLine(): Line | undefined {
    const [best] = this.#lines
      .filter(({ users, isTaken }) => users < SENT_MAX && !isTaken)
      .sort((a, b) => a.users - b.users);
    if (best?.users !== 0 && this.#lines.length < this.#linesMax) {
      const line = { ...this.#open(), users: 0, isTaken: false, isCurrent: true };
      this.#lines.push(line);
      return line;
    }
    return best;
  }

  #leave(line: Line, isAlone: boolean): void {
    line.users -= 1;
    if (isAlone) line.isTaken = false;
    if (!line.isCurrent && line.users === 0) void line.end();
    this.#letIn();
  }

  #replaceAll(): void {
    for (const line of this.#lines.splice(0)) {
      line.isCurrent = false;
      if (line.users === 0) void line.end();
    }
  }

  async close(): Promise<void> {
    const opened = [...this.#lines.splice(0).map(({ sql }) => sql), this.#listener];
    await Promise.all(opened.map(async (sql) => (await sql?.catch(() => undefined))?.end({ timeout: 5 })));
    this.sockets.close();
  }
}

/** The driver goes on with a connection that it was about to open when it was ended, and keeps it: so it gets no socket. */
function openDriver(url: PostgresUrl, sockets: PostgresSockets, options: DatabaseOptions): Opened {
  let isOver = false;
  let socket: Socket | undefined;
  const sql = newServerDriver(url, options, async (only) => {
    socket = await sockets.open(only);
    if (!isOver) return socket;
    socket.destroy();
    throw new DatabaseUnavailable('this connection to PostgreSQL was given up');
  });
  return {
    sql,
    async end() {
      isOver = true;
      await sql.then((driver) => driver.end({ timeout: 0 })).catch(() => {});
      if (socket?.connecting) socket.destroy();
    },
  };
}

function newServerDriver(
  { url, tls }: PostgresUrl,
  options: DatabaseOptions,
  socket: (options: DriverOptions) => Promise<Socket>,
): Promise<Driver> {
  return newDriver(url, {
    max: 1,
    ssl: tls,
    socket,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    // Nothing before our own statements. Should the connection be lost in the middle of the list of types, the
    // driver would reject a promise that nobody holds, which ends the process.
    fetch_types: false,
    backoff: (attempts: number) => Math.min(BACKOFF_MAX_S, BACKOFF_MIN_S * 2 ** attempts),
    connection: {
      application_name: 'offerbook',
      // A client that has vanished without a word must not keep its locks for hours.
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '5',
      tcp_keepalives_count: '3',
      statement_timeout: options.statementTimeoutMs,
      synchronous_commit: options.durable ? 'on' : 'off',
      // Every statement here reads the first few entries of one index, whatever its parameters, so it is planned
      // once: planning it anew for every page takes as long as running it. What could tempt the planner, such as
      // a table without statistics, is out of its reach: collecting many rows to sort them, and compiling first.
      plan_cache_mode: 'force_generic_plan',
      jit: 'off',
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_sort: 'off',
      enable_incremental_sort: 'off',
      max_parallel_workers_per_gather: '0',
    },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  });
}

/** Whether this is the server that is meant, of the several that a URL names. */
async function hasRole(text: string, role: 'primary' | 'standby'): Promise<boolean> {
  const { url, tls } = parsePostgresUrl(text);
  const probe = await newDriver(url, {
    max: 1,
    ssl: tls,
    connect_timeout: PROBE_TIMEOUT_S,
    fetch_types: false,
  });
  try {
    const answer = probe.unsafe<{ standby: boolean }[]>('SELECT pg_is_in_recovery() AS standby');
    const [row] = await withTimeout(answer, PROBE_TIMEOUT_S * 1_000, () => new Error('no answer'));
    return row?.standby === (role === 'standby');
  } catch {
    return false;
  } finally {
    void probe.end({ timeout: 0 });
  }
}

/** Loaded when it is needed: a server on SQLite starts some 20 ms sooner without it. */
async function newDriver(url: string, options: object): Promise<Driver> {
  const { default: postgres } = await import('postgres');
  try {
    return postgres(url, { onnotice: () => {}, ...options }) as unknown as Driver;
  } catch {
    // Neither the URL nor the parser's own message: it repeats the URL, and that holds a password.
    throw new BadInput(
      'the database URL is malformed; it looks like postgres://user:password@host:5432/name',
    );
  }
}
