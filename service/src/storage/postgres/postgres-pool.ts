// Connections to PostgreSQL through Bun's client, which pools connections, prepares statements and pipelines them. The client
// connects to only one server and has no response timeout. This pool replaces a client whose server has stopped responding or is no
// longer the primary.

import type { ReservedSQL, SQL } from 'bun';
import { withTimeout } from '../../domain/promises.ts';
import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { PoolUse } from '../../domain/stores.ts';
import type { DatabaseOptions } from '../database.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import { newClient, type PostgresServer, type PostgresUrl } from './postgres-url.ts';
import type { ServerSearch } from './server-search.ts';

const CONNECT_TIMEOUT_S = 2;
/** A command serves no requests, so it can wait for a PostgreSQL that is too busy to accept its connection. */
const COMMAND_CONNECT_TIMEOUT_S = 10;
const IDLE_TIMEOUT_S = 60;
/** How long a closing client waits for statements in flight. */
const CLOSE_TIMEOUT_S = 1;
/** A server that has not responded this long after the statement timeout counts as unreachable. */
const RESPONSE_GRACE_MS = 1_000;

interface Opened {
  readonly client: SQL;
  readonly server: PostgresServer;
}

export type PostgresPool = ReturnType<typeof openPool>;

export function openPool(url: PostgresUrl, search: ServerSearch, options: DatabaseOptions) {
  const { connectionsMax: max, statementTimeoutMs } = options;
  let current: Promise<Opened> | undefined;
  /** Server of the last client that was opened. */
  let server: PostgresServer | undefined;
  /** Statements that are waiting for a response. `active` is true once a statement has been sent. */
  const queries = new Set<{ readonly active: boolean }>();
  let reserving = 0;
  let reserved = 0;
  let isClosed = false;

  function open(): Promise<Opened> {
    if (isClosed) return Promise.reject(closedError());
    if (current !== undefined && server !== undefined && !search.isCurrent(server)) replace(current);
    const opening = current ?? openClient();
    current = opening;
    opening.catch(() => replace(opening));
    return opening;
  }

  async function openClient(): Promise<Opened> {
    const found = await search.find();
    if (isClosed) throw closedError();
    server = found;
    const client = newClient(found, url, {
      max,
      idleTimeout: IDLE_TIMEOUT_S,
      connectionTimeout: statementTimeoutMs === 0 ? COMMAND_CONNECT_TIMEOUT_S : CONNECT_TIMEOUT_S,
      connection: sessionSettings(options),
    });
    return { client, server: found };
  }

  /**
   * Closes the client; the next statement opens a new one. In servers, the statement timeout soon aborts statements in flight.
   * Commands have no statement timeout, so their old client waits for statements in flight.
   */
  function replace(opened: Promise<Opened>): void {
    if (current !== opened) return;
    current = undefined;
    server = undefined;
    const patience = statementTimeoutMs === 0 ? {} : { timeout: CLOSE_TIMEOUT_S };
    opened.then(({ client }) => client.close(patience)).catch(() => {});
  }

  /**
   * Rejects if the server is frozen or the network drops packets. In all other cases, the server's statement timeout applies
   * first.
   */
  function inTime<T>(answer: PromiseLike<T>): PromiseLike<T> {
    if (statementTimeoutMs === 0) return answer;
    const timeoutMs = statementTimeoutMs + RESPONSE_GRACE_MS;
    return withTimeout(
      answer,
      timeoutMs,
      () => new StorageError('unavailable', `PostgreSQL has not responded for ${timeoutMs} ms`),
    );
  }

  async function reserveConnection(client: SQL): Promise<ReservedSQL> {
    reserving += 1;
    const patience = new AbortController();
    const connecting = client.reserve({ signal: patience.signal });
    try {
      return await inTime(connecting);
    } catch (error) {
      patience.abort();
      connecting.then((late) => late.release()).catch(() => {});
      throw error;
    } finally {
      reserving -= 1;
    }
  }

  return {
    inTime,

    get use(): PoolUse {
      const sent = [...queries].filter(({ active }) => active).length;
      return {
        // Several statements can share a connection, so `sent` can exceed `max`.
        inUse: Math.min(max, reserved + sent),
        waiting: reserving + queries.size - sent,
        max,
      };
    },

    /** Sends one statement on a shared connection. */
    async query<T>(start: (client: SQL) => SQL.Query<T>): Promise<T & SQL.ResultMetadata> {
      const opening = open();
      const query = start((await opening).client);
      queries.add(query);
      try {
        return await inTime(query);
      } catch (error) {
        const isLate = isStorageError(error, 'unavailable');
        // If the statement was never sent, the pool is overloaded but the client works, so keep the client.
        if (isLate && !query.active) query.cancel().catch(() => {});
        else if (isLate || isConnectionLoss(error)) replace(opening);
        throw error;
      } finally {
        queries.delete(query);
      }
    },

    /** Runs work on an exclusive connection. The work must end its own transaction. */
    async reserve<T>(work: (connection: SQL, server: PostgresServer) => Promise<T>): Promise<T> {
      const opening = open();
      let connection: ReservedSQL | undefined;
      try {
        const opened = await opening;
        connection = await reserveConnection(opened.client);
        reserved += 1;
        return await work(connection, opened.server);
      } catch (error) {
        const isSilent = connection !== undefined && isStorageError(error, 'unavailable');
        if (isSilent || isConnectionLoss(error)) replace(opening);
        // A late response must not reach the next user of the connection.
        if (isSilent) void connection?.close({ timeout: 0 });
        throw error;
      } finally {
        reserved -= Number(connection !== undefined);
        void connection?.release();
      }
    },

    async close(): Promise<void> {
      isClosed = true;
      const opened = await current?.catch(() => undefined);
      await opened?.client.close({ timeout: CLOSE_TIMEOUT_S });
    },
  };
}

function closedError(): StorageError {
  return new StorageError('unavailable', 'the database has been closed');
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
