// Finds the server to use among those in a PostgreSQL URL, and keeps looking while the database is in use: a standby may have
// been promoted while the old primary is still running.

import type { SQL } from 'bun';
import { withTimeout } from '../../domain/promises.ts';
import { StorageError } from '../../domain/storage-error.ts';
import { type Candidate, choosePrimary, type ServerIdentity } from './choose-primary.ts';
import { newClient } from './new-client.ts';
import { isConnectionLoss } from './postgres-errors.ts';
import { addressesOf, type PostgresServer, type PostgresUrl } from './postgres-url.ts';

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

interface Found extends Candidate {
  readonly server: PostgresServer;
}

export interface SearchOptions {
  readonly role: 'primary' | 'standby';
  /** True to wait for every server's response. */
  readonly isThorough: boolean;
}

export class ServerSearch {
  readonly #url: PostgresUrl;
  readonly #options: SearchOptions;
  readonly #probes = new Map<PostgresServer, SQL>();
  #searching: Promise<PostgresServer> | undefined;
  #searchedAtMs = Number.NEGATIVE_INFINITY;
  #latest: ServerIdentity | undefined;
  #result: PostgresServer | Error | undefined;
  #rivals: readonly string[] = [];
  #isClosed = false;

  constructor(url: PostgresUrl, options: SearchOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** Addresses of other servers that accept writes, but have been replaced. */
  get rivals(): readonly string[] {
    return this.#rivals;
  }

  /**
   * Returns false if the last search chose a different server, or refused to choose. Starts a new search once a
   * second, whose result the next calls return.
   */
  isCurrent(server: PostgresServer): boolean {
    void this.refresh();
    return !this.#hasChoice || this.#result === undefined || this.#result === server;
  }

  /** Searches again, unless the last search is at most a second old. */
  async refresh(): Promise<void> {
    if (!this.#hasChoice || performance.now() - this.#searchedAtMs <= SEARCH_INTERVAL_MS) return;
    // A server that is too busy to respond has not been replaced.
    await this.#begin().catch(() => {});
  }

  /** Throws a StorageError if this server has been replaced, according to a search that is at most a second old. */
  async confirm(server: PostgresServer): Promise<void> {
    await this.refresh();
    if (!this.#hasChoice || this.#result === undefined) return;
    if (this.#result instanceof Error) throw this.#result;
    if (this.#result === server) return;
    throw new StorageError(
      'unavailable',
      `another PostgreSQL server has replaced ${server.address} during this transaction, which was rolled back; try again`,
    );
  }

  /** Searches on new connections: the caller has none, or has lost its own and the probes may be dead too. */
  find(): Promise<PostgresServer> {
    const [only] = this.#url.servers;
    if (only !== undefined && this.#url.servers.length === 1) return Promise.resolve(only);
    return this.#searching?.catch(() => this.#beginAfresh()) ?? this.#beginAfresh();
  }

  #beginAfresh(): Promise<PostgresServer> {
    if (this.#searching === undefined) this.#closeProbes();
    return this.#begin();
  }

  close(): void {
    this.#isClosed = true;
    this.#closeProbes();
  }

  #closeProbes(): void {
    for (const probe of this.#probes.values()) void probe.close({ timeout: 0 }).catch(() => {});
    this.#probes.clear();
  }

  #begin(): Promise<PostgresServer> {
    this.#searching ??= this.#search().finally(() => {
      this.#searchedAtMs = performance.now();
      this.#searching = undefined;
    });
    return this.#searching;
  }

  get #hasChoice(): boolean {
    return this.#options.role === 'primary' && this.#url.servers.length > 1;
  }

  async #search(): Promise<PostgresServer> {
    const found: Found[] = [];
    const failures: unknown[] = [];
    const { role, isThorough } = this.#options;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const asked = this.#url.servers.map(async (server) => {
      try {
        const identity = await this.#ask(server);
        found.push({ ...identity, address: server.address, server });
        if (identity.isStandby !== (role === 'standby')) return;
        if (role === 'standby') resolve();
        else if (!isThorough) setTimeout(resolve, SERVER_GRACE_MS);
      } catch (error) {
        failures.push(error);
      }
    });
    await Promise.race([Promise.all(asked), enough]);
    // In the order of the URL, so that messages do not depend on which server responds first.
    const { servers } = this.#url;
    found.sort((one, other) => servers.indexOf(one.server) - servers.indexOf(other.server));
    return role === 'standby' ? this.#useStandby(found, failures) : this.#usePrimary(found, failures);
  }

  #useStandby(found: readonly Found[], failures: readonly unknown[]): PostgresServer {
    const standby = found.find(({ isStandby }) => isStandby);
    if (standby === undefined) throw failures[0] ?? this.#none();
    return standby.server;
  }

  #usePrimary(found: readonly Found[], failures: readonly unknown[]): PostgresServer {
    const choice = choosePrimary(found, this.#latest);
    // While no server accepts writes, the pool stays with its server, whose errors are more specific.
    if (choice === undefined) throw failures[0] ?? this.#none();
    if ('refusal' in choice) {
      const error = new StorageError('unavailable', choice.refusal);
      this.#result = error;
      throw error;
    }
    const { primary, rivals } = choice;
    this.#rivals = rivals.map(({ address }) => address);
    this.#latest = primary;
    this.#result = primary.server;
    return primary.server;
  }

  async #ask(server: PostgresServer): Promise<ServerIdentity> {
    const probe = this.#probes.get(server) ?? newClient(server, this.#url, { max: 1 });
    this.#probes.set(server, probe);
    try {
      return await withTimeout(readIdentity(probe), PROBE_TIMEOUT_MS, () => this.#none());
    } catch (error) {
      if (this.#probes.get(server) === probe) this.#probes.delete(server);
      void probe.close({ timeout: 0 }).catch(() => {});
      throw error;
    } finally {
      if (this.#isClosed) this.#closeProbes();
    }
  }

  #none(): StorageError {
    const message = `none of the PostgreSQL servers at ${addressesOf(this.#url)} is the ${this.#options.role}`;
    return new StorageError('unavailable', message);
  }
}

async function readIdentity(client: SQL): Promise<ServerIdentity> {
  const read = async (sql: string) => {
    const [row] = await client.unsafe<ServerIdentity[]>(sql);
    if (row === undefined) throw new Error('expected exactly one row');
    return row;
  };
  try {
    return await read(IDENTITY_SQL);
  } catch (error) {
    if (isConnectionLoss(error)) throw error;
    return read(ROLE_SQL);
  }
}
