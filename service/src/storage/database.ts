// The interface that SQLite and PostgreSQL implement. The stores are written once, against this interface and the database's
// `Dialect` object (sql.ts).

import type { Clock } from '../domain/clock.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { DatabasePools } from '../domain/stores.ts';
import type { Schema } from './schema/schema.ts';
import type { RowOf, Table } from './schema/table.ts';
import type { Dialect, Queries, SqlValue, Statement } from './sql.ts';

export type { Queries, SqlValue };

export interface Connection extends Queries {
  /** Like `all`, but returns the column `data` as bytes (UTF-8), which can be sent without decoding. */
  allWithBytes<Row extends { data: Uint8Array | null }>(
    statement: Statement,
    ...params: SqlValue[]
  ): Promise<Row[]>;
  /** Returns the rows with these keys. If the key has several columns, `first` are the values of all but the last. */
  findMany<T extends Table>(table: T, keys: readonly string[], ...first: SqlValue[]): Promise<RowOf<T>[]>;
  /** Inserts rows or overwrites those with the same key. */
  putMany<T extends Table>(table: T, rows: readonly RowOf<NoInfer<T>>[]): Promise<void>;
  /** Inserts rows with new keys, which is faster than putMany on PostgreSQL. */
  insertMany<T extends Table>(table: T, rows: readonly RowOf<NoInfer<T>>[]): Promise<void>;
  deleteMany(table: Table, keys: readonly string[]): Promise<void>;
  /** Waits for other processes that are migrating this database, and blocks them until the commit. */
  lockSchema(): Promise<void>;
  /** Throws a StorageError if PostgreSQL has failed over and the failover is not recorded. Does nothing on SQLite. */
  requireRecordedTimeline(): Promise<void>;
  /** Continues numbering after the number that this SELECT returns. Call this after inserting rows with explicit numbers. */
  continueNumbers(table: string, lastNumberSql: string): Promise<void>;
}

export interface Database extends Queries {
  readonly sql: Dialect;
  /** Schema of the main database. */
  readonly schema: Schema;
  /** Reads pages of transactions. Uses the same connections as `read`; see `pageConnectionsMax`. */
  readonly allWithBytes: Connection['allWithBytes'];
  /** Runs work in a read transaction, which sees one snapshot of the database. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Like `read`, but for reading whole tables: their data does not stay cached in memory. */
  readOnce<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs work in a transaction, which commits when the work returns and rolls back when it throws. */
  write<T>(work: (connection: Connection) => Promise<T>, lockTimeoutMs?: number): Promise<T>;
  /** Calls onChange shortly after another process commits; may fire spuriously. Returns an unsubscribe function. */
  watch(onChange: () => void): () => void;
  /**
   * Empties the write-ahead log, where deleted bytes remain. Stops trying after a second if other connections keep the log
   * busy; later checkpoints will empty it. Does nothing on PostgreSQL.
   */
  emptyLog(): Promise<void>;
  /** Returns true while an import or another long write is running; undefined if this user cannot write. */
  isWriteLockHeld(): Promise<boolean | undefined>;
  /** Returns connection usage; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** Returns the addresses of servers that accept writes although another has replaced them. */
  rivals(): readonly string[];
  /** Records that PostgreSQL has failed over, if it has. Does nothing on SQLite. See postgres/failovers.ts. */
  recordFailover(auditor: Readonly<{ clock: Clock; by: string }>): Promise<void>;
  /** Describes the database's location for messages, without the user name or password. */
  describePlace(): Promise<string>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /**
   * Restricts what the caller can change. `read` rejects writes and changes neither the schema nor any file. `dry run` is like
   * `read`, except that it allows writes, which are then rolled back. By default, everything is allowed.
   */
  readonly access?: 'read' | 'dry run' | undefined;
  /** Creates the database if it is missing. By default, a missing database is an error. */
  readonly create?: boolean;
  /** True if commits wait for the disk. Otherwise, a power cut can lose whole commits, but never part of a commit. */
  readonly durable: boolean;
  /** How long a write waits for another writer before it fails. */
  readonly lockTimeoutMs: number;
  /** 0 for none. PostgreSQL only. */
  readonly statementTimeoutMs: number;
  /** PostgreSQL only. */
  readonly connectionsMax: number;
  /** Number of separate connections for pages of transactions. By default, pages share the other connections. PostgreSQL only. */
  readonly pageConnectionsMax?: number;
  /** Maps the file into memory for reading, which is faster but counts as process memory. SQLite only. */
  readonly mapsFile?: boolean;
  /** Role of the server to use if the URL names several; by default, the primary. PostgreSQL only. */
  readonly role?: 'primary' | 'standby';
}

export function busy(cause: unknown): StorageError {
  return new StorageError(
    'busy',
    'another process is writing to the database; try again when it has finished',
    { cause },
  );
}

export function outdated(place: string): StorageError {
  return new StorageError('outdated', `the database ${place} has the schema of an older Offerbook`);
}

export function noDatabase(place: string): StorageError {
  return new StorageError('missing', `there is no Offerbook database ${place}`);
}
