// Finds the server to use among those in a PostgreSQL URL, and keeps looking while the database is in use: a standby may have
// been promoted while the old primary is still running.

import type { SQL } from 'bun';
import { withTimeout } from '../../domain/promises.ts';
import { StorageError } from '../../domain/storage-error.ts';
import { type Candidate, choosePrimary, type ServerIdentity } from './choose-primary.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import { addressesOf, newClient, type PostgresServer, type PostgresUrl } from './postgres-url.ts';

/** How long a server may take to report its identity. */
const PROBE_TIMEOUT_MS = 1_000;
/**
 * How long a search waits for further servers after the first primary has responded. A command waits for all of them, because its
 * write must not reach a replaced primary; a server corrects its choice with the next search.
 */
const SERVER_GRACE_MS = 250;
const SEARCH_INTERVAL_MS = 1_000;

// pg_control_checkpoint() would report the previous timeline until the first checkpoint after a promotion.
export const IDENTITY_SQL = `
  SELECT pg_is_in_recovery() AS "isStandby", system_identifier::text AS system,
         CASE WHEN NOT pg_is_in_recovery() THEN
           ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline,
         pg_postmaster_start_time()::text AS "startedAt"
    FROM pg_control_system()`;
/** For hosted services that do not allow the functions above. */
const ROLE_SQL = `
  SELECT pg_is_in_recovery() AS "isStandby", NULL AS system, NULL AS timeline,
         pg_postmaster_start_time()::text AS "startedAt"`;

export type ServerSearch = ReturnType<typeof searchServers>;

/** `isThorough`: waits for every server's response. */
export function searchServers(url: PostgresUrl, role: 'primary' | 'standby', isThorough: boolean) {
  const { servers } = url;
  const hasChoice = role === 'primary' && servers.length > 1;
  const probes = new Map<PostgresServer, SQL>();
  let searching: Promise<PostgresServer> | undefined;
  let searchedAtMs = Number.NEGATIVE_INFINITY;
  let latest: ServerIdentity | undefined;
  /** The server that the last search chose, or the error if it refused to choose. Kept if a search finds no primary. */
  let result: PostgresServer | Error | undefined;
  let rivals: readonly string[] = [];
  let isClosed = false;

  function begin(): Promise<PostgresServer> {
    searching ??= search().finally(() => {
      searchedAtMs = performance.now();
      searching = undefined;
    });
    return searching;
  }

  function beginAfresh(): Promise<PostgresServer> {
    if (searching === undefined) closeProbes();
    return begin();
  }

  /** Searches again, unless the last search is at most a second old. */
  async function refresh(): Promise<void> {
    if (!hasChoice || performance.now() - searchedAtMs <= SEARCH_INTERVAL_MS) return;
    // A server that is too busy to respond has not been replaced.
    await begin().catch(() => {});
  }

  async function search(): Promise<PostgresServer> {
    const found: Candidate[] = [];
    const failures: unknown[] = [];
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const asked = servers.map(async (server) => {
      try {
        const identity = await ask(server);
        found.push({ ...identity, server });
        if (identity.isStandby !== (role === 'standby')) return;
        if (role === 'standby') resolve();
        else if (!isThorough) setTimeout(resolve, SERVER_GRACE_MS);
      } catch (error) {
        failures.push(error);
      }
    });
    await Promise.race([Promise.all(asked), enough]);
    // In the order of the URL, so that messages do not depend on which server responds first.
    found.sort((one, other) => servers.indexOf(one.server) - servers.indexOf(other.server));
    const chosen = role === 'standby' ? found.find(({ isStandby }) => isStandby)?.server : usePrimary(found);
    // While no server accepts writes, the pool stays with its server, whose errors are more specific.
    if (chosen === undefined) throw failures[0] ?? none();
    return chosen;
  }

  function usePrimary(found: readonly Candidate[]): PostgresServer | undefined {
    const choice = choosePrimary(found, latest);
    if (choice === undefined) return undefined;
    if ('refusal' in choice) {
      result = new StorageError('unavailable', choice.refusal);
      throw result;
    }
    rivals = choice.rivals.map(({ server }) => server.address);
    latest = choice.primary;
    result = choice.primary.server;
    return result;
  }

  async function ask(server: PostgresServer): Promise<ServerIdentity> {
    const probe = probes.getOrInsertComputed(server, () => newClient(server, url, { max: 1 }));
    try {
      return await withTimeout(readIdentity(probe), PROBE_TIMEOUT_MS, none);
    } catch (error) {
      if (probes.get(server) === probe) probes.delete(server);
      void probe.close({ timeout: 0 }).catch(() => {});
      throw error;
    } finally {
      if (isClosed) closeProbes();
    }
  }

  function closeProbes(): void {
    for (const probe of probes.values()) void probe.close({ timeout: 0 }).catch(() => {});
    probes.clear();
  }

  function none(): StorageError {
    return new StorageError(
      'unavailable',
      `none of the PostgreSQL servers at ${addressesOf(url)} is the ${role}`,
    );
  }

  return {
    /** Addresses of other servers that accept writes, but have been replaced. */
    get rivals(): readonly string[] {
      return rivals;
    },
    refresh,

    /**
     * Returns false if the last search chose a different server, or refused to choose. Starts a new search once a
     * second, whose result the next calls return.
     */
    isCurrent(server: PostgresServer): boolean {
      void refresh();
      return result === undefined || !hasChoice || result === server;
    },

    /** Throws a StorageError if this server has been replaced, according to a search that is at most a second old. */
    async confirm(server: PostgresServer): Promise<void> {
      await refresh();
      if (!hasChoice || result === undefined || result === server) return;
      if (result instanceof Error) throw result;
      throw new StorageError(
        'unavailable',
        `another PostgreSQL server has replaced ${server.address} during this transaction, which was rolled back; try again`,
      );
    },

    /** Searches on new connections: the caller has none, or has lost its own and the probes may be dead too. */
    async find(): Promise<PostgresServer> {
      const [only] = servers;
      if (only !== undefined && servers.length === 1) return only;
      return searching?.catch(beginAfresh) ?? beginAfresh();
    },

    close(): void {
      isClosed = true;
      closeProbes();
    },
  };
}

async function readIdentity(client: SQL): Promise<ServerIdentity> {
  const read = async (sql: string) => (await client.unsafe<[ServerIdentity]>(sql))[0];
  try {
    return await read(IDENTITY_SQL);
  } catch (error) {
    if (isConnectionLoss(error)) throw error;
    return read(ROLE_SQL);
  }
}
