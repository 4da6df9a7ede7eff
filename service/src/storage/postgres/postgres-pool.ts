// Connections to PostgreSQL through Bun's client, which pools connections, prepares statements and pipelines them. The client
// connects to only one server and has no response timeout. This pool chooses between several servers and replaces a client whose
// server has stopped responding.

import type { ReservedSQL, SQL } from 'bun';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { PoolUse } from '../../domain/stores.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseOptions } from '../database.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import { type PostgresServer, type PostgresUrl, parsePostgresUrl } from './postgres-url.ts';

const CONNECT_TIMEOUT_S = 2;
const IDLE_TIMEOUT_S = 60;
/** Timeout for querying a server's role. */
const PROBE_TIMEOUT_MS = 1_000;
/** How long a closing client waits for statements in flight. */
const CLOSE_TIMEOUT_S = 1;
/** A server that has not responded this long after the statement timeout counts as unreachable. */
const RESPONSE_GRACE_MS = 1_000;

type Role = 'primary' | 'standby';

export class PostgresPool {
  readonly #url: PostgresUrl;
  readonly #options: DatabaseOptions;
  #client: Promise<SQL> | undefined;
  /** Statements that are waiting for a response. `active` is true once a statement has been sent. */
  readonly #queries = new Set<{ readonly active: boolean }>();
  #reserving = 0;
  #reserved = 0;
  #isClosed = false;

  constructor(url: string, options: DatabaseOptions) {
    this.#url = parsePostgresUrl(url);
    this.#options = options;
  }

  /** Server addresses for messages, without the password. */
  get servers(): string {
    return addressesOf(this.#url);
  }

  get use(): PoolUse {
    const sent = [...this.#queries].filter(({ active }) => active).length;
    const max = this.#options.connectionsMax;
    return {
      // Several statements can share a connection, so `sent` can exceed `max`.
      inUse: Math.min(max, this.#reserved + sent),
      waiting: this.#reserving + this.#queries.size - sent,
      max,
    };
  }

  /** Sends one statement on a shared connection. */
  async query<T>(start: (client: SQL) => SQL.Query<T>): Promise<T & SQL.ResultMetadata> {
    const opening = this.#open();
    const query = start(await opening);
    this.#queries.add(query);
    try {
      return await this.inTime(query);
    } catch (error) {
      const isLate = isStorageError(error, 'unavailable');
      // The statement was never sent: the pool is overloaded, but the client works.
      if (isLate && !query.active) query.cancel().catch(() => {});
      else if (isLate || isConnectionLoss(error)) this.#replace(opening);
      throw error;
    } finally {
      this.#queries.delete(query);
    }
  }

  /** Runs work on an exclusive connection. The work must end its own transaction. */
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
      // A late response must not reach the next user of the connection.
      if (isSilent) void connection?.close({ timeout: 0 });
      throw error;
    } finally {
      this.#reserved -= Number(connection !== undefined);
      void connection?.release();
    }
  }

  /**
   * Rejects if the server is frozen or the network drops packets. In all other cases, the server's statement timeout applies
   * first.
   */
  inTime<T>(answer: PromiseLike<T>): PromiseLike<T> {
    const { statementTimeoutMs } = this.#options;
    if (statementTimeoutMs === 0) return answer;
    const timeoutMs = statementTimeoutMs + RESPONSE_GRACE_MS;
    return withTimeout(
      answer,
      timeoutMs,
      () => new StorageError('unavailable', `PostgreSQL has not responded for ${timeoutMs} ms`),
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

  /**
   * Closes the client; the next statement opens a new one. In servers, the statement timeout soon aborts statements in flight.
   * Commands have no statement timeout, so their old client waits for statements in flight.
   */
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
    // If this process or its network disappears, the server must release the locks within half a minute, not after hours.
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    statement_timeout: statementTimeoutMs,
    synchronous_commit: durable ? 'on' : 'off',
    // Whatever its parameters, every statement reads only the first few entries of one index, so a generic plan is suitable and
    // saves planning time. The settings below disable JIT compilation. They also disable the large scans and sorts that the
    // planner might choose for a table without statistics.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
    enable_incremental_sort: 'off',
    max_parallel_workers_per_gather: 0,
  };
}

/**
 * Returns the first server that reports this role. Queries all servers in parallel, so an unreachable one does not cause a delay.
 */
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
    // Set explicitly, because Bun prefers PGDATABASE to the name in the URL.
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    // Uses the global, because importing SQL as a value would load the client at the start of every command, even with SQLite.
    return new Bun.SQL({
      ...options,
      adapter: 'postgres',
      url,
      tls,
      ...(socket !== undefined && { path: socket }),
      ...(database !== '' && { database }),
    });
  } catch {
    // Omits the parser's message, which contains the password.
    throw new StorageError(
      'settings',
      'the database URL is malformed; it must look like postgres://user:password@host:5432/name',
    );
  }
}
