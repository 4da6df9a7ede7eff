// Connections to PostgreSQL through Bun's client, which pools connections, prepares statements and pipelines them. The client
// connects to only one server and has no response timeout. This pool replaces a client whose server has stopped responding or is no
// longer the primary.

import type { ReservedSQL, SQL } from 'bun';
import { withTimeout } from '../../domain/promises.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { PoolUse } from '../../domain/stores.ts';
import type { DatabaseOptions } from '../database.ts';
import { newClient } from './new-client.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import type { PostgresServer, PostgresUrl } from './postgres-url.ts';
import type { ServerSearch } from './server-search.ts';

const CONNECT_TIMEOUT_S = 2;
const IDLE_TIMEOUT_S = 60;
/** How long a closing client waits for statements in flight. */
const CLOSE_TIMEOUT_S = 1;
/** A server that has not responded this long after the statement timeout counts as unreachable. */
const RESPONSE_GRACE_MS = 1_000;

interface Opened {
  readonly client: SQL;
  readonly server: PostgresServer;
}

export class PostgresPool {
  readonly #url: PostgresUrl;
  readonly #search: ServerSearch;
  readonly #options: DatabaseOptions;
  #opened: Promise<Opened> | undefined;
  /** Server of the last client that was opened. */
  #server: PostgresServer | undefined;
  /** Statements that are waiting for a response. `active` is true once a statement has been sent. */
  readonly #queries = new Set<{ readonly active: boolean }>();
  #reserving = 0;
  #reserved = 0;
  #isClosed = false;

  constructor(url: PostgresUrl, search: ServerSearch, options: DatabaseOptions) {
    this.#url = url;
    this.#search = search;
    this.#options = options;
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
    const query = start((await opening).client);
    this.#queries.add(query);
    try {
      return await this.inTime(query);
    } catch (error) {
      const isLate = isStorageError(error, 'unavailable');
      // If the statement was never sent, the pool is overloaded but the client works, so keep the client.
      if (isLate && !query.active) query.cancel().catch(() => {});
      else if (isLate || isConnectionLoss(error)) this.#replace(opening);
      throw error;
    } finally {
      this.#queries.delete(query);
    }
  }

  /** Runs work on an exclusive connection. The work must end its own transaction. */
  async reserve<T>(work: (connection: SQL, server: PostgresServer) => Promise<T>): Promise<T> {
    const opening = this.#open();
    let connection: ReservedSQL | undefined;
    try {
      const { client, server } = await opening;
      connection = await this.#reserve(client);
      this.#reserved += 1;
      return await work(connection, server);
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
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.client.close({ timeout: CLOSE_TIMEOUT_S });
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

  #open(): Promise<Opened> {
    if (this.#isClosed)
      return Promise.reject(new StorageError('unavailable', 'the database has been closed'));
    if (this.#opened !== undefined && this.#server !== undefined && !this.#search.isCurrent(this.#server))
      this.#replace(this.#opened);
    const opening = this.#opened ?? this.#openClient();
    this.#opened = opening;
    opening.catch(() => this.#replace(opening));
    return opening;
  }

  /**
   * Closes the client; the next statement opens a new one. In servers, the statement timeout soon aborts statements in flight.
   * Commands have no statement timeout, so their old client waits for statements in flight.
   */
  #replace(opened: Promise<Opened>): void {
    if (this.#opened !== opened) return;
    this.#opened = undefined;
    this.#server = undefined;
    const patience = this.#options.statementTimeoutMs === 0 ? {} : { timeout: CLOSE_TIMEOUT_S };
    opened.then(({ client }) => client.close(patience)).catch(() => {});
  }

  async #openClient(): Promise<Opened> {
    const server = await this.#search.find();
    if (this.#isClosed) throw new StorageError('unavailable', 'the database has been closed');
    this.#server = server;
    const client = newClient(server, this.#url, {
      max: this.#options.connectionsMax,
      idleTimeout: IDLE_TIMEOUT_S,
      connectionTimeout: CONNECT_TIMEOUT_S,
      connection: sessionSettings(this.#options),
    });
    return { client, server };
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
