// The interface of a database, which SQLite and PostgreSQL implement. The stores are written once, against this interface and
// the `Sql` object of the database (sql.ts).

import type { Clock } from '../domain/clock.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { DatabasePools } from '../domain/stores.ts';
import type { Schema } from './schema/schema.ts';
import type { ColumnType, Sql, Statement } from './sql.ts';

export type SqlValue = string | number | null;

/** Runs single statements: a database, or a connection within a transaction. */
export interface Queries {
  all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]>;
}

export interface Connection extends Queries {
  /** Like `all`, but returns the column `data` as bytes: UTF-8 that is sent on without being decoded. */
  allWithBytes<Row extends { data: Uint8Array | null }>(
    statement: Statement,
    ...params: SqlValue[]
  ): Promise<Row[]>;
  /** Returns the rows with these keys. */
  findMany<Row>(table: Table, keys: readonly string[]): Promise<Row[]>;
  /** Inserts rows, or overwrites those with the same key; returns the number of rows written. */
  putMany<Column extends string>(
    table: Table<Column>,
    rows: readonly TableRow<NoInfer<Column>>[],
  ): Promise<number>;
  deleteMany(table: Table, keys: readonly string[]): Promise<void>;
  /**
   * From now on, overwrites deleted and replaced bytes with zeros. Does nothing on PostgreSQL, where vacuum removes deleted
   * rows.
   */
  overwriteDeleted(): Promise<void>;
  /** Waits until no other process migrates this database, and keeps them waiting until the commit. */
  lockSchema(): Promise<void>;
  /** Makes the next row of a numbered table follow the last number that this SELECT finds. Rows were inserted with numbers. */
  continueNumbers(table: string, lastNumberSql: string): Promise<void>;
}

export interface Database extends Queries {
  readonly sql: Sql;
  /** The schema of the main database. */
  readonly schema: Schema;
  /** For pages of transactions, like `read`: see `pageConnectionsMax`. */
  readonly allWithBytes: Connection['allWithBytes'];
  /** Runs work in a read transaction: one state of the database, whatever is committed meanwhile. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Like `read`, for work that reads a whole table: keeps none of it in memory. */
  readOnce<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs work in a transaction: commits when it returns, rolls back when it throws. */
  write<T>(work: (connection: Connection) => Promise<T>, lockTimeoutMs?: number): Promise<T>;
  /** Calls onChange shortly after another process commits; may fire spuriously. Returns an unsubscribe function. */
  watch(onChange: () => void): () => void;
  /**
   * Empties the write-ahead log, where deleted bytes remain. Gives up after `waitMs` if others use the log all the time; the
   * next checkpoints empty it then. Does nothing on PostgreSQL.
   */
  emptyLog(waitMs?: number): Promise<void>;
  /** True while an import or another long write runs; undefined if this user may not write. */
  isWriteLockHeld(): Promise<boolean | undefined>;
  /** Facts about the PostgreSQL server; undefined on SQLite. */
  inspectServer(clock: Clock): Promise<PostgresFacts | undefined>;
  /** The database server's time of day; undefined if the database runs in this process. */
  nowMs(): Promise<number | undefined>;
  /** Use of the connections; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** The place of the database for messages, without user and password. */
  describePlace(): Promise<string>;
  close(): Promise<void>;
}

export interface PostgresFacts {
  /** Such as 180001. */
  readonly version: number;
  /** How far the server's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  readonly bytes: number;
  readonly isReadOnly: boolean;
  /** Tables that our role may not read, not write, or does not own. */
  readonly unreadable: readonly string[];
  readonly unwritable: readonly string[];
  readonly notOwned: readonly string[];
  readonly walLevel: string;
  readonly archiveMode: string;
  /** True if the last attempt to archive the log failed. */
  readonly isArchiveFailing: boolean;
}

export interface DatabaseOptions {
  /**
   * Restricts what the caller may change. `read` changes neither the schema nor the file nor the files beside it, and rejects
   * writes. `dry run` does the same, but allows writes that are rolled back. Default: everything is allowed.
   */
  readonly access?: 'read' | 'dry run' | undefined;
  /** Creates the database if there is none. Otherwise a missing database is an error. */
  readonly create?: boolean;
  /** True if commits wait for the disk. Without it, a power cut can lose whole commits, never a part of one. */
  readonly durable: boolean;
  /** How long a write waits for another writer before it fails. */
  readonly lockTimeoutMs: number;
  /** Time limit for a statement; 0 for none. PostgreSQL only. */
  readonly statementTimeoutMs: number;
  /** PostgreSQL only. */
  readonly connectionsMax: number;
  /** Further connections for pages of transactions; by default, pages share the others. PostgreSQL only. */
  readonly pageConnectionsMax?: number;
  /** Maps the file into memory for reading: faster, but pages read count as memory of the process. SQLite only. */
  readonly mapsFile?: boolean;
  /** Overwrites deleted bytes with zeros, so that they cannot be recovered from the file. SQLite only. */
  readonly overwritesDeleted?: boolean;
  /** The server to use if the URL names several. Default: the primary. PostgreSQL only. */
  readonly role?: 'primary' | 'standby';
}

/** A table that is written in bulk. */
export interface Table<Column extends string = string> {
  readonly name: string;
  /** The columns, key first. */
  readonly columns: { readonly [Name in Column]: ColumnType };
  /** Number of columns in the key. Default: 1. */
  readonly keyLength?: number;
  /** A column that never changes: an existing row with another value in it is not overwritten. */
  readonly owner?: string;
  /** The only column that changes in an existing row, and only from null. */
  readonly filledLater?: string;
}

export type TableRow<Column extends string> = Readonly<Record<Column, SqlValue>>;

export const RETAILERS = {
  name: 'retailers',
  columns: { id: 'uuid', document: 'text' },
} as const satisfies Table;

export const LINKS = {
  name: 'links',
  columns: { id: 'uuid', kind: 'text', template: 'text' },
} as const satisfies Table;

export const CLICKS = {
  name: 'clicks',
  columns: {
    id: 'text',
    org_id: 'integer',
    kind: 'text',
    deal_id: 'uuid',
    retailer_id: 'uuid',
    passback_uid: 'text',
    passback_data: 'text',
    activated_at: 'bigint',
    clicked_at: 'bigint',
    is_tracked: 'integer',
    has_sale: 'integer',
  },
  filledLater: 'clicked_at',
} as const satisfies Table;

export const TRANSACTIONS = {
  name: 'transactions',
  columns: {
    id: 'uuid',
    org_id: 'integer',
    updated_at: 'bigint',
    document: 'text',
    import_id: 'integer',
    source_updated_at: 'bigint',
  },
  owner: 'org_id',
} as const satisfies Table;

export const HISTORY = {
  name: 'history',
  columns: {
    id: 'uuid',
    until_stamp: 'bigint',
    org_id: 'integer',
    from_stamp: 'bigint',
    import_id: 'integer',
    document: 'text',
  },
  keyLength: 2,
} as const satisfies Table;

/** The amounts are decimal strings, because SQLite has no exact decimals. */
export const DAILY_TOTALS = {
  name: 'daily_totals',
  columns: {
    org_id: 'integer',
    day: 'text',
    currency: 'text',
    status: 'text',
    count: 'bigint',
    order_value: 'text',
    cashback: 'text',
  },
  keyLength: 4,
} as const satisfies Table;

export const ERASURES = {
  name: 'erasures',
  columns: { org_id: 'integer', digest: 'text', erased_at: 'bigint' },
  keyLength: 2,
} as const satisfies Table;

export const IMPORT_FEEDS = {
  name: 'import_feeds',
  columns: {
    kind: 'text',
    org_id: 'integer',
    source: 'text',
    last_success: 'bigint',
    last_outcome: 'text',
    last_ended: 'bigint',
  },
  keyLength: 3,
} as const satisfies Table;

export function columnsOf<Column extends string>({ columns }: Table<Column>): Column[] {
  return Object.keys(columns) as Column[];
}

/** `INSERT INTO table (columns) <source> ON CONFLICT …`. */
export function upsertSql(table: Table, source: string): string {
  const names = columnsOf(table);
  const { keyLength = 1, filledLater } = table;
  const [key, rest] = [names.slice(0, keyLength).join(', '), names.slice(keyLength)];
  const assignments =
    filledLater === undefined
      ? rest.filter((name) => name !== table.owner).map((name) => `${name} = excluded.${name}`)
      : [`${filledLater} = coalesce(${table.name}.${filledLater}, excluded.${filledLater})`];
  const guard =
    table.owner === undefined ? '' : ` WHERE ${table.name}.${table.owner} = excluded.${table.owner}`;
  return `INSERT INTO ${table.name} (${names.join(', ')}) ${source} ON CONFLICT (${key}) DO UPDATE SET ${assignments.join(', ')}${guard}`;
}

export function busy(cause: unknown): StorageError {
  return new StorageError(
    'busy',
    'another process is writing to the database; try again when it has finished',
    { cause },
  );
}

export function outdated(place: string): StorageError {
  return new StorageError('outdated', `the database ${place} has the schema of an earlier Offerbook`);
}

export function noDatabase(place: string): StorageError {
  return new StorageError('missing', `there is no Offerbook database ${place}`);
}
