// The driver's connections, of which new ones take over when one was lost: the driver keeps what it was about to
// send on a lost connection, and the one that takes its place is then of no use for seconds.

import type postgres from 'postgres';
import { BadInput } from '../domain/errors.ts';
import type { DatabaseOptions } from './database.ts';
import { isCutOff } from './postgres-errors.ts';
import { type DriverOptions, PostgresSockets } from './postgres-sockets.ts';
import { type PostgresUrl, parsePostgresUrl } from './postgres-url.ts';

export type Driver = postgres.Sql<{ bigint: number }>;

const CONNECT_TIMEOUT_S = 2;
const BACKOFF_MIN_S = 0.05;
const BACKOFF_MAX_S = 0.5;
/** How long one of several servers may take to say what it is. */
const PROBE_TIMEOUT_S = 1;

interface Generation {
  readonly sql: Promise<Driver>;
  users: number;
}

export class PostgresPool {
  readonly sockets: PostgresSockets;
  readonly #open: () => Promise<Driver>;
  #current: Generation | undefined;
  #listener: Promise<Driver> | undefined;

  constructor(text: string, options: DatabaseOptions) {
    const url = parsePostgresUrl(text);
    const role = options.role ?? 'primary';
    this.sockets = new PostgresSockets(url.servers, (each) => hasRole(each, role));
    this.#open = () => openDriver(url, this.sockets, options);
  }

  /** For notifications, which the driver receives on a connection apart from the others. */
  get listener(): Promise<Driver> {
    this.#listener ??= this.#open();
    return this.#listener;
  }

  async use<T>(work: (sql: Driver) => Promise<T>): Promise<T> {
    this.#current ??= { sql: this.#open(), users: 0 };
    const mine = this.#current;
    mine.users += 1;
    try {
      return await work(await mine.sql);
    } catch (error) {
      if (isCutOff(error) && mine === this.#current) this.#current = undefined;
      throw error;
    } finally {
      mine.users -= 1;
      if (mine !== this.#current && mine.users === 0) void mine.sql.then((sql) => sql.end({ timeout: 0 }));
    }
  }

  async close(): Promise<void> {
    const opened = [this.#current?.sql, this.#listener];
    await Promise.all(opened.map(async (sql) => (await sql?.catch(() => undefined))?.end({ timeout: 5 })));
    this.sockets.close();
  }
}

function openDriver({ url, tls }: PostgresUrl, sockets: PostgresSockets, options: DatabaseOptions) {
  return newDriver(url, {
    max: options.connectionsMax,
    ssl: tls,
    socket: (only: DriverOptions) => sockets.open(only),
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
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
  const silence = Bun.sleep(PROBE_TIMEOUT_S * 1_000).then(() => []);
  try {
    const answer = probe.unsafe<{ standby: boolean }[]>('SELECT pg_is_in_recovery() AS standby');
    const [row] = await Promise.race([answer, silence]);
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
