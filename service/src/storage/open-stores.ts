// Opens the database that a URL names, brings its schema up to date, and hands out the stores on it. A database that is
// not there is made only when asked for: a mistyped path must not look like an installation without data.

import { type Clock, systemClock } from '../domain/clock.ts';
import { BadInput } from '../domain/failures.ts';
import type { Stores } from '../domain/stores.ts';
import { type Database, type DatabaseOptions, noDatabase } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { Replica, type ReplicaOptions } from './postgres/replica.ts';
import { findSchemaState, migrate } from './schema/migrate.ts';
import { SchemaGuard } from './schema/schema-guard.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import { WalkDatabase } from './sqlite/walk-database.ts';
import { type Auditor, auditBook } from './stores/audit-book.ts';
import { catalogueStore } from './stores/catalogue-store.ts';
import { completeCatalogue, completeTransactions } from './stores/complete-documents.ts';
import { importBook } from './stores/import-book.ts';
import { linkStore } from './stores/link-store.ts';
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

/** For commands that only read: they get the data out of a database from before the first release. */
export const EXPORT_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, readsUnreleased: true };

/** For commands that put something into a database: they make one where there is none. */
export const CREATE_OPTIONS: DatabaseOptions = { ...COMMAND_OPTIONS, create: true };

/** For servers: a request must not wait, and SQLite would hold up all the others. What they write may be lost. */
export const SERVER_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 2_000,
  connectionsMax: 2,
  pageConnectionsMax: 7,
  mapsFile: true,
};

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
  const walkDatabase = new WalkDatabase(url, database, options);
  const walks = walkStore(() => walkDatabase.open(), clock);
  const schema = new SchemaGuard(database);
  const replica = replicaOptions && new Replica(database, replicaOptions);
  const transactions = completeTransactions(transactionStore(database, { clock, replica }));
  return {
    organisations: organisationStore(database, auditor),
    tokens: tokenStore(database, auditor),
    catalogue: completeCatalogue(catalogueStore(database, clock)),
    links: linkStore(database, clock),
    transactions: {
      ...transactions,
      async page(query) {
        schema.check();
        return transactions.page(query);
      },
    },
    history: transactionHistory(database, auditor),
    imports: importBook(database, clock),
    audit: auditBook(database),
    walks,
    clickKey: () => readClickKey(database),
    async revisions() {
      await schema.look();
      return readRevisions(database);
    },
    watch: (onChange) => database.watch(onChange),
    replica: () => replica?.state,
    async close() {
      await replica?.close();
      await walks.close();
      await walkDatabase.close();
      await database.close();
    },
  };
}

/**
 * Migrates with a command's patience, on connections of its own. Indexes of a large table take longer to make than a
 * server's statement may. If another process is migrating already, this one waits for it.
 */
async function prepareSchema(
  url: string,
  database: Database,
  { create = false, readsUnreleased = false }: DatabaseOptions,
  auditor: Auditor,
): Promise<void> {
  // Most starts find a current schema: they take no lock and can use a database that they may not write.
  const state = await findSchemaState(database);
  if (state === 'current' || (state === 'unreleased' && readsUnreleased)) return;
  if (state === 'none' && !create) throw noDatabase(await database.describePlace());
  const own = openDatabase(url, { ...COMMAND_OPTIONS, create });
  try {
    await migrate(own, auditor);
  } finally {
    await own.close();
  }
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length)
    return openSqlite(url.slice('sqlite:'.length), options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  // The URL is not repeated: it may hold a password.
  throw new BadInput('the database URL must be sqlite:PATH or postgres://…');
}
