// Connections to PostgreSQL through Bun's own client, which pools them, prepares statements and sends several at
// once. A client leads to one server and waits for an answer for ever. So this file decides two things: which of
// several servers the client leads to, and when a new client takes its place.

import type { ReservedSQL, SQL } from 'bun';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { PoolUse } from '../../domain/stores.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseOptions } from '../database.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import { type PostgresServer, type PostgresUrl, parsePostgresUrl } from './postgres-url.ts';

const CONNECT_TIMEOUT_S = 2;
const IDLE_TIMEOUT_S = 60;
/** How long one of several servers may take to say what it is. */
const PROBE_TIMEOUT_MS = 1_000;
/** How long a client that is closed waits for the answers to what it has sent. */
const CLOSE_TIMEOUT_S = 1;
/** How much longer than the server's own statement timeout we wait for a server that has stopped answering. */
const ANSWER_GRACE_MS = 1_000;

type Role = 'primary' | 'standby';

export class PostgresPool {
  readonly #url: PostgresUrl;
  readonly #options: DatabaseOptions;
  #client: Promise<SQL> | undefined;
  /** Statements without an answer, each of which knows whether it has been sent. */
  readonly #queries = new Set<{ readonly active: boolean }>();
  #reserving = 0;
  #reserved = 0;
  #isClosed = false;

  constructor(url: string, options: DatabaseOptions) {
    this.#url = parsePostgresUrl(url);
    this.#options = options;
  }

  /** The addresses of the servers, for messages. */
  get servers(): string {
    return addressesOf(this.#url);
  }

  get use(): PoolUse {
    const sent = [...this.#queries].filter(({ active }) => active).length;
    const max = this.#options.connectionsMax;
    return {
      // A connection can carry several statements.
      inUse: Math.min(max, this.#reserved + sent),
      waiting: this.#reserving + this.#queries.size - sent,
      max,
    };
  }

  /** Sends one statement on a connection that others may use too. */
  async query<T>(start: (client: SQL) => SQL.Query<T>): Promise<T & SQL.ResultMetadata> {
    const opening = this.#open();
    const query = start(await opening);
    this.#queries.add(query);
    try {
      return await this.inTime(query);
    } catch (error) {
      const isLate = isStorageError(error, 'unavailable');
      // It still waits for a connection: there is too much to do, but nothing is wrong with the client.
      if (isLate && !query.active) query.cancel().catch(() => {});
      else if (isLate || isConnectionLoss(error)) this.#replace(opening);
      throw error;
    } finally {
      this.#queries.delete(query);
    }
  }

  /** Runs work on a connection that nobody else uses meanwhile. What it leaves open, a transaction, ends with it. */
  async reserve<T>(work: (connection: SQL) => Promise<T>): Promise<T> {
    const opening = this.#open();
    let connection: ReservedSQL | undefined;
    try {
      connection = await this.#reserve(await opening);
      this.#reserved += 1;
      return await work(connection);
    } catch (error) {
      const isSilent = connection !== undefined && isStorageError(error, 'unavailable');
      if (isSilent || isConnectionLoss(error)) this.#replace(opening);
      // An answer that comes late must not be somebody else's.
      if (isSilent) void connection?.close({ timeout: 0 });
      throw error;
    } finally {
      this.#reserved -= Number(connection !== undefined);
      void connection?.release();
    }
  }

  /** The server ends what takes too long by itself, unless it is frozen or the network swallows everything. */
  inTime<T>(answer: PromiseLike<T>): PromiseLike<T> {
    const { statementTimeoutMs } = this.#options;
    if (statementTimeoutMs === 0) return answer;
    const timeoutMs = statementTimeoutMs + ANSWER_GRACE_MS;
    return withTimeout(
      answer,
      timeoutMs,
      () => new StorageError('unavailable', `PostgreSQL has not answered for ${timeoutMs} ms`),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.close({ timeout: CLOSE_TIMEOUT_S });
  }

  async #reserve(client: SQL): Promise<ReservedSQL> {
    this.#reserving += 1;
    const patience = new AbortController();
    const reserving = client.reserve({ signal: patience.signal });
    try {
      return await this.inTime(reserving);
    } catch (error) {
      patience.abort();
      reserving.then((late) => late.release()).catch(() => {});
      throw error;
    } finally {
      this.#reserving -= 1;
    }
  }

  #open(): Promise<SQL> {
    if (this.#isClosed)
      return Promise.reject(new StorageError('unavailable', 'the database has been closed'));
    const opening = this.#client ?? this.#openClient();
    this.#client = opening;
    opening.catch(() => this.#replace(opening));
    return opening;
  }

  /** What a server has sent on the old client is sent again on the new one; what a command has sent cannot be. */
  #replace(opened: Promise<SQL>): void {
    if (this.#client !== opened) return;
    this.#client = undefined;
    const patience = this.#options.statementTimeoutMs === 0 ? {} : { timeout: CLOSE_TIMEOUT_S };
    opened.then((client) => client.close(patience)).catch(() => {});
  }

  async #openClient(): Promise<SQL> {
    const server = await findServer(this.#url, this.#options.role ?? 'primary');
    if (this.#isClosed) throw new StorageError('unavailable', 'the database has been closed');
    return newClient(server, this.#url, {
      max: this.#options.connectionsMax,
      idleTimeout: IDLE_TIMEOUT_S,
      connectionTimeout: CONNECT_TIMEOUT_S,
      connection: sessionSettings(this.#options),
    });
  }
}

function sessionSettings({ statementTimeoutMs, durable }: DatabaseOptions): Record<string, string | number> {
  return {
    // A client that has vanished without a word must not keep its locks for hours.
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    statement_timeout: statementTimeoutMs,
    synchronous_commit: durable ? 'on' : 'off',
    // Every statement here reads the first few entries of one index, whatever its parameters, so it is planned
    // once: planning it anew for every page takes as long as running it. What could tempt the planner, such as
    // a table without statistics, is out of its reach: collecting many rows to sort them, and compiling first.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
    enable_incremental_sort: 'off',
    max_parallel_workers_per_gather: 0,
  };
}

/** Of several servers, the first to say that it has the role. Those that do not answer hold nobody up. */
async function findServer(url: PostgresUrl, role: Role): Promise<PostgresServer> {
  const [first, ...others] = url.servers;
  if (first !== undefined && others.length === 0) return first;
  const searches = url.servers.map((server) => requireRole(server, url, role));
  return Promise.any(searches).catch(({ errors }: AggregateError) => {
    throw errors[0];
  });
}

async function requireRole(server: PostgresServer, url: PostgresUrl, role: Role): Promise<PostgresServer> {
  const probe = newClient(server, url, { max: 1 });
  try {
    const answer = probe.unsafe<{ standby: boolean }[]>('SELECT pg_is_in_recovery() AS standby');
    const [row] = await withTimeout(answer, PROBE_TIMEOUT_MS, () => noServer(url, role));
    if (row?.standby === (role === 'standby')) return server;
    throw noServer(url, role);
  } finally {
    void probe.close({ timeout: 0 });
  }
}

function noServer(url: PostgresUrl, role: Role): StorageError {
  return new StorageError(
    'unavailable',
    `none of the PostgreSQL servers at ${addressesOf(url)} is the ${role}`,
  );
}

function addressesOf({ servers }: PostgresUrl): string {
  return servers.map(({ address }) => address).join(',');
}

function newClient(
  { url, socket }: PostgresServer,
  { tls }: PostgresUrl,
  options: SQL.PostgresOrMySQLOptions,
): SQL {
  try {
    // Otherwise PGDATABASE would count for more than the URL.
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    // Not imported as a value: SQLite does without the client, and the start of every command with it.
    return new Bun.SQL({
      ...options,
      adapter: 'postgres',
      url,
      tls,
      ...(socket !== undefined && { path: socket }),
      ...(database !== '' && { database }),
    });
  } catch {
    // Neither the URL nor the parser's own message: it repeats the URL, and that holds a password.
    throw new StorageError(
      'settings',
      'the database URL is malformed; it looks like postgres://user:password@host:5432/name',
    );
  }
}
