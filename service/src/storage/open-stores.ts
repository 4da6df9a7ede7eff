// Opens a database, upgrades its schema, and returns its stores. Creates a database only on request, because a mistyped path must
// not look like an empty installation.

import { existsSync, statSync } from 'node:fs';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { TransactionQuery } from '../domain/transaction.ts';
import { type Connection, type Database, type DatabaseOptions, noDatabase, outdated } from './database.ts';
import { CLICK_END, openDatabase, sqlitePath } from './open-database.ts';
import { closing, closingOnError, type OpenOnce, openOnce } from './open-once.ts';
import { watchCluster } from './postgres/cluster-watch.ts';
import { openReplica, type ReplicaOptions } from './postgres/replica.ts';
import { findUsableSchema, type Migration, migrate } from './schema/migrate.ts';
import { type Schema, versionOf } from './schema/schema.ts';
import type { Statement } from './sql.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import { SQLITE_CLICKS, SQLITE_WALKS } from './sqlite/sqlite-schemas.ts';
import { withSyncedWrites } from './sqlite/synced-writes.ts';
import { type Auditor, auditLog, writeAudit } from './stores/audit-log.ts';
import { catalogueStore } from './stores/catalogue-store.ts';
import { clickStore } from './stores/click-store.ts';
import { dailyTotalStore } from './stores/daily-totals.ts';
import { readClickKey } from './stores/erased-users.ts';
import { erasureStore } from './stores/erasure-store.ts';
import { importLog } from './stores/import-log.ts';
import { leaseStore } from './stores/lease-store.ts';
import { linkStore } from './stores/link-store.ts';
import { organisationStore } from './stores/organisation-store.ts';
import { pullStore } from './stores/pull-store.ts';
import { readRevisions } from './stores/revision.ts';
import { tokenStore } from './stores/token-store.ts';
import { transactionHistory } from './stores/transaction-history.ts';
import { transactionStore } from './stores/transaction-store.ts';
import { walkStore } from './stores/walk-store.ts';
import { webhookStore } from './stores/webhook-store.ts';
import { readTransactionPage } from './transactions/transaction-page.ts';

/** For commands, which wait for each other and whose statements have no timeout. */
export const COMMAND_OPTIONS: DatabaseOptions = {
  durable: true,
  lockTimeoutMs: 60_000,
  statementTimeoutMs: 0,
  connectionsMax: 2,
};

/** For commands that only read. */
export const READ_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, access: 'read' };

/** Not durable, because a dry run rolls back. */
export const DRY_RUN_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, access: 'dry run', durable: false };

/** For commands that create a missing database. */
export const CREATE_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, create: true };

const NOW_SQL: Statement = ({ nowMs }) => `SELECT ${nowMs} AS now`;

/** Other writers of the walks hold the lock only briefly. */
const SENDER_LOCK_TIMEOUT_MS = 1_000;

export interface StoresOptions {
  readonly replica?: ReplicaOptions | undefined;
  /** For servers: watches the PostgreSQL cluster and logs its failovers. Ignored on SQLite. */
  readonly clusterLogger?: Logger | undefined;
  /** User and machine, for the audit log. */
  readonly by?: string | undefined;
}

export async function openStores(
  url: string,
  options: DatabaseOptions = COMMAND_OPTIONS,
  clock: Clock = systemClock,
  { replica: replicaOptions, clusterLogger, by = 'unknown' }: StoresOptions = {},
): Promise<Stores> {
  const auditor = { clock, by };
  const database = openDatabase(url, options);
  await closingOnError(database, () => prepareSchema(url, database, options, auditor));
  const path = sqlitePath(url);
  // Not durable: a lost walk does no harm.
  const walkPath = path === undefined ? undefined : `${path}-walks`;
  const walkFile =
    walkPath === undefined
      ? undefined
      : openOnce(() => openFileBeside(walkPath, SQLITE_WALKS, { ...options, durable: false }));
  const clicks = clickStore(clickDatabase(url, options), clock);
  const openWalks = walkFile?.open ?? (async () => database);
  const walks = walkStore(
    {
      open: openWalks,
      exists: () => walkPath === undefined || existsSync(walkPath),
    },
    clock,
  );
  /**
   * Updated by revisions(). If a newer program upgrades the schema while this process is running, this process must stop
   * reading.
   */
  let oldestVersion = 0;
  function requireKnownSchema(): void {
    if (oldestVersion <= versionOf(database.schema)) return;
    throw new StorageError(
      'too new',
      `the database was upgraded to schema version ${oldestVersion} by a newer version of Offerbook; upgrade this program too`,
    );
  }
  const replica = replicaOptions && openReplica(database, replicaOptions);
  const cluster =
    clusterLogger && path === undefined
      ? watchCluster({
          database,
          auditor,
          logger: clusterLogger,
          replica,
          openOwn: () => openDatabase(url, COMMAND_OPTIONS),
        })
      : undefined;
  const readPage = async (query: TransactionQuery) => {
    requireKnownSchema();
    return cluster === undefined ? readTransactionPage(database, query) : cluster.readPage(query);
  };
  return {
    organisations: organisationStore(database, clicks, auditor),
    tokens: tokenStore(database, auditor),
    catalogue: catalogueStore(database, clock),
    links: linkStore(database, clock),
    clicks: {
      ...clicks,
      async purge(beforeMs, onBatch) {
        const count = await clicks.purge(beforeMs, onBatch);
        const details = { clicks: count, madeBeforeMs: beforeMs };
        await database.write((connection) => writeAudit(connection, auditor, 'clicks purged', null, details));
        return count;
      },
    },
    transactions: transactionStore(database, clock, readPage),
    totals: dailyTotalStore(database),
    erasures: erasureStore(database, { clicks, walks }, auditor),
    history: transactionHistory(database, auditor),
    imports: importLog(database, clock),
    pulls: pullStore(database, clock),
    audit: auditLog(database),
    walks,
    webhooks: webhookStore(database, auditor),
    leases: leaseStore(async () => database),
    senderLease: leaseStore(openWalks, SENDER_LOCK_TIMEOUT_MS),
    clickKey: () => readClickKey(database),
    async revisions() {
      const sql = 'SELECT oldest_version AS oldest FROM schema_version';
      const [row] = await database.all<{ oldest: number }>(sql);
      oldestVersion = row?.oldest ?? 0;
      requireKnownSchema();
      await cluster?.check();
      return readRevisions(database);
    },
    watch: (onChange) => database.watch(onChange),
    replica: () => replica?.state,
    cluster: () => cluster?.state,
    pools: () => database.pools(),
    async clockLeadMs() {
      // Read the clock before the query, so that the round trip cannot make this machine's clock seem to be ahead.
      const ownMs = clock();
      const [row] = await database.all<{ now: number | null }>(NOW_SQL);
      return Math.max(0, ownMs - (row?.now ?? ownMs));
    },
    async close() {
      await replica?.close();
      await cluster?.close();
      await clicks.close();
      await walkFile?.close();
      await database.close();
    },
  };
}

/**
 * Records a failover of PostgreSQL. Migrates if necessary, on separate connections without a statement timeout, because indexing a
 * large table can take longer than a server's timeout. Waits if another process is migrating.
 */
export async function prepareSchema(
  url: string,
  database: Database,
  { access, create = false }: DatabaseOptions,
  auditor: Auditor,
): Promise<Migration> {
  // If the schema is current, this needs no lock and works on a read-only database.
  const state = (await findUsableSchema(database))?.state;
  if (state === undefined && !create) throw noDatabase(await database.describePlace());
  if (state !== 'current' && access !== undefined) throw outdated(await database.describePlace());
  await using own =
    state === 'current' ? undefined : closing(openDatabase(url, { ...COMMAND_OPTIONS, create }));
  const migration = await migrate(own ?? database, auditor);
  if (access === undefined) await database.recordFailover(auditor);
  return migration;
}

/**
 * Opens a second file beside an SQLite database, for writes that must not wait for an import, which holds the main file's only
 * write lock while it runs. Creates the file, unless the options forbid changes.
 */
export async function openFileBeside(
  path: string,
  schema: Schema,
  options: DatabaseOptions,
): Promise<Database> {
  if (options.access !== undefined) {
    // A killed process may have left an empty file.
    const isThere = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const file = openSqlite(path, options);
    return isThere ? file : { ...file, ...EMPTY_DATABASE };
  }
  const file = openSqlite(path, { ...options, create: true });
  await closingOnError(file, () => migrate(file, undefined, schema));
  return file;
}

const EMPTY: Connection = {
  all: async () => [],
  allWithBytes: async () => [],
  findMany: async () => [],
  putMany: async () => {},
  insertMany: async () => {},
  deleteMany: async () => {},
  lockSchema: async () => {},
  continueNumbers: async () => {},
  requireRecordedTimeline: async () => {},
};

const onEmpty = <T>(work: (connection: Connection) => Promise<T>) => work(EMPTY);

/** Replaces the methods of a database whose file does not exist and must not be created. */
const EMPTY_DATABASE = {
  ...EMPTY,
  read: onEmpty,
  readOnce: onEmpty,
  write: onEmpty,
  emptyLog: async () => {},
};

/**
 * Opens the click database. Unlike a server's other writes, clicks are durable before the server responds. Clicks use a
 * separate connection on PostgreSQL and a separate file on SQLite.
 */
export function clickDatabase(
  url: string,
  { pageConnectionsMax: _, ...options }: DatabaseOptions,
): OpenOnce<Database> {
  const mainPath = sqlitePath(url);
  return openOnce(async () => {
    if (mainPath === undefined) return openDatabase(url, { ...options, durable: true, connectionsMax: 1 });
    const path = `${mainPath}${CLICK_END}`;
    const file = await openFileBeside(path, SQLITE_CLICKS, { ...options, durable: false });
    return withSyncedWrites(file, path);
  });
}
