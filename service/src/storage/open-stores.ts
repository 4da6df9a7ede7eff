// Opens a database, brings its schema up to date, and hands out the stores on it. A database that is
// not there is made only when asked for: a mistyped path must not look like an installation without data.

import { statSync } from 'node:fs';
import { type Clock, systemClock } from '../domain/clock.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import { type Connection, type Database, type DatabaseOptions, noDatabase, outdated } from './database.ts';
import { CLICK_END, openDatabase, sqlitePath } from './open-database.ts';
import { closing, type OpenOnce, openOnce } from './open-once.ts';
import { Replica, type ReplicaOptions } from './postgres/replica.ts';
import { findSchemaState, migrate } from './schema/migrate.ts';
import { SCHEMAS, type Schema, SQLITE_CLICKS, SQLITE_WALKS, versionOf } from './schema/schema.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import { withSyncedWrites } from './sqlite/synced-writes.ts';
import { type Auditor, auditBook, writeAudit } from './stores/audit-book.ts';
import { catalogueStore } from './stores/catalogue-store.ts';
import { clickStore } from './stores/click-store.ts';
import { completeCatalogue, completeTransactions } from './stores/complete-documents.ts';
import { erasureStore } from './stores/erasure-store.ts';
import { importBook } from './stores/import-book.ts';
import { linkStore } from './stores/link-store.ts';
import { organisationDeletion } from './stores/organisation-deletion.ts';
import { organisationStore } from './stores/organisation-store.ts';
import { readRevisions } from './stores/revision.ts';
import { readClickKey } from './stores/secret.ts';
import { tokenStore } from './stores/token-store.ts';
import { transactionHistory } from './stores/transaction-history.ts';
import { transactionStore } from './stores/transaction-store.ts';
import { walkStore } from './stores/walk-store.ts';

/** For commands: they may wait for one another, and a statement over everything may take its time. */
export const COMMAND_OPTIONS: DatabaseOptions = {
  durable: true,
  lockTimeoutMs: 60_000,
  statementTimeoutMs: 0,
  connectionsMax: 2,
};

/** For commands that only read. */
export const READ_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, access: 'read' };

/** For exports: they get the data out of a database from before the first release, too. */
export const EXPORT_OPTIONS: DatabaseOptions = { ...READ_OPTIONS, readsUnreleased: true };

/** Not durable: what a dry run writes is rolled back. */
export const DRY_RUN_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, access: 'dry run', durable: false };

/** For commands that put something into a database: they make one where there is none. */
export const CREATE_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, create: true };

export interface StoresOptions {
  readonly replica?: ReplicaOptions | undefined;
  /** Who works with the database, for the audit: a person and a machine. */
  readonly by?: string | undefined;
}

export async function openStores(
  url: string,
  options: DatabaseOptions = COMMAND_OPTIONS,
  clock: Clock = systemClock,
  { replica: replicaOptions, by = 'unknown' }: StoresOptions = {},
): Promise<Stores> {
  const auditor = { clock, by };
  const database = openDatabase(url, options);
  try {
    await prepareSchema(url, database, options, auditor);
  } catch (error) {
    await database.close();
    throw error;
  }
  const path = sqlitePath(url);
  // PostgreSQL has room for walks beside everything else. They hold no data, so that losing them does no harm.
  const walkFile =
    path === undefined
      ? undefined
      : openOnce(() => openFileBeside(`${path}-walks`, SQLITE_WALKS, { ...options, durable: false }));
  const clicks = clickStore(clickDatabase(url, options), clock);
  /** A newer program may change the schema beyond what this one can use while it runs. Noticed with the revisions. */
  let oldestVersion = 0;
  function requireKnownSchema(): void {
    if (oldestVersion <= versionOf(SCHEMAS[database.dialect])) return;
    throw new StorageError(
      'too new',
      `the database has been brought to schema version ${oldestVersion} for a newer Offerbook; this one must be replaced by it`,
    );
  }
  const replica = replicaOptions && new Replica(database, replicaOptions);
  const transactions = completeTransactions(transactionStore(database, { clock, replica }));
  return {
    organisations: {
      ...organisationStore(database, auditor),
      ...organisationDeletion(database, clicks, auditor),
    },
    tokens: tokenStore(database, auditor),
    catalogue: completeCatalogue(catalogueStore(database, clock)),
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
    transactions: {
      ...transactions,
      async page(query) {
        requireKnownSchema();
        return transactions.page(query);
      },
    },
    erasures: erasureStore(database, clicks, auditor),
    history: transactionHistory(database, auditor),
    imports: importBook(database, clock),
    audit: auditBook(database),
    walks: walkStore(walkFile?.open ?? (async () => database), clock),
    clickKey: () => readClickKey(database),
    async revisions() {
      const sql = 'SELECT oldest_version AS oldest FROM schema_version';
      const [row] = await database.all<{ oldest: number }>(sql);
      oldestVersion = row?.oldest ?? 0;
      requireKnownSchema();
      return readRevisions(database);
    },
    watch: (onChange) => database.watch(onChange),
    replica: () => replica?.state,
    pools: () => database.pools(),
    async clockLeadMs() {
      // Asked before, so that the way to the database and back cannot look like a lead.
      const ownMs = clock();
      return Math.max(0, ownMs - ((await database.nowMs()) ?? ownMs));
    },
    async close() {
      await replica?.close();
      await clicks.close();
      await walkFile?.close();
      await database.close();
    },
  };
}

/**
 * Migrates with a command's patience, on connections of its own. Indexes of a large table take longer to make than a
 * server's statement may. If another process is migrating already, this one waits for it.
 */
export async function prepareSchema(
  url: string,
  database: Database,
  { access, create = false, readsUnreleased = false }: DatabaseOptions,
  auditor: Auditor,
): Promise<void> {
  // Most starts find a current schema: they take no lock and can use a database that they may not write.
  const state = await findSchemaState(database);
  if (state === 'current' || (state === 'unreleased' && readsUnreleased)) return;
  if (state === 'none' && !create) throw noDatabase(await database.describePlace());
  if (access !== undefined) throw outdated(await database.describePlace());
  await using own = closing(openDatabase(url, { ...COMMAND_OPTIONS, create }));
  await migrate(own, auditor);
}

/**
 * A second file beside an SQLite database, for what must not wait for an import: that holds the only write lock of the first
 * for as long as it runs. Creates the file, unless the options allow no change.
 */
export async function openFileBeside(
  path: string,
  schema: Schema,
  options: DatabaseOptions,
): Promise<Database> {
  if (options.access !== undefined) {
    // A killed process may have left an empty file.
    const isThere = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
    return isThere ? openSqlite(path, options) : EMPTY_DATABASE;
  }
  const file = openSqlite(path, { ...options, create: true });
  try {
    await migrate(file, undefined, schema);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const EMPTY: Connection = {
  all: async () => [],
  allWithBytes: async () => [],
  findMany: async () => [],
  putMany: async () => 0,
  deleteMany: async () => {},
};

/** In the place of a file that is not there and must not be created. */
const EMPTY_DATABASE: Database = {
  ...EMPTY,
  dialect: 'sqlite',
  read: (work) => work(EMPTY),
  readOnce: (work) => work(EMPTY),
  write: (work) => work(EMPTY),
  watch: () => () => {},
  nowMs: async () => undefined,
  pools: () => undefined,
  describePlace: async () => 'nowhere',
  close: async () => {},
};

/**
 * Where clicks are kept. An answer waits until they are safe, whatever else a server writes: on PostgreSQL on a connection
 * apart, on SQLite in a file of their own.
 */
export function clickDatabase(
  url: string,
  { pageConnectionsMax: _, ...options }: DatabaseOptions,
): OpenOnce<Database> {
  const path = sqlitePath(url);
  return openOnce(async () =>
    path === undefined
      ? openDatabase(url, { ...options, durable: true, connectionsMax: 1 })
      : withSyncedWrites(
          await openFileBeside(`${path}${CLICK_END}`, SQLITE_CLICKS, {
            ...options,
            durable: false,
            overwritesDeleted: true,
          }),
          `${path}${CLICK_END}`,
        ),
  );
}
