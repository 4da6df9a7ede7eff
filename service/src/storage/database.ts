// The interface that SQLite and PostgreSQL implement. The stores are written once, against this interface and the database's
// `Sql` object (sql.ts).

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../domain/clock.ts';
import { StorageError } from '../domain/storage-error.ts';
import type { DatabasePools } from '../domain/stores.ts';
import type { Schema } from './schema/schema.ts';
import type { ColumnType, Sql, Statement } from './sql.ts';

export type SqlValue = string | number | null;

/** A database or a connection: runs single statements. */
export interface Queries {
  all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]>;
}

export interface Connection extends Queries {
  /** Like `all`, but returns the column `data` as bytes (UTF-8), which can be sent without decoding. */
  allWithBytes<Row extends { data: Uint8Array | null }>(
    statement: Statement,
    ...params: SqlValue[]
  ): Promise<Row[]>;
  /** Returns the rows with these keys. */
  findMany<Row>(table: Table, keys: readonly string[]): Promise<Row[]>;
  /** Inserts rows or overwrites those with the same key. Returns the number of rows written. */
  putMany<Column extends string>(
    table: Table<Column>,
    rows: readonly TableRow<NoInfer<Column>>[],
  ): Promise<number>;
  /**
   * Inserts rows with new keys, which is faster than putMany on PostgreSQL. Returns the number of rows written. If a key exists,
   * that number is too small, and the caller must roll back.
   */
  insertMany<Column extends string>(
    table: Table<Column>,
    rows: readonly TableRow<NoInfer<Column>>[],
  ): Promise<number>;
  deleteMany(table: Table, keys: readonly string[]): Promise<void>;
  /** From now on, overwrites deleted and replaced bytes with zeros. On PostgreSQL, does nothing; vacuum removes deleted rows. */
  overwriteDeleted(): Promise<void>;
  /** Waits for other processes that are migrating this database, and blocks them until the commit. */
  lockSchema(): Promise<void>;
  /** Throws a StorageError if PostgreSQL has failed over and the failover is not recorded. Does nothing on SQLite. */
  requireRecordedTimeline(): Promise<void>;
  /** Continues numbering after the number that this SELECT returns. Call this after inserting rows with explicit numbers. */
  continueNumbers(table: string, lastNumberSql: string): Promise<void>;
}

export interface Database extends Queries {
  readonly sql: Sql;
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
   * Empties the write-ahead log, where deleted bytes remain. Stops trying after `waitMs` if other connections keep the log busy;
   * later checkpoints will empty it. Does nothing on PostgreSQL.
   */
  emptyLog(waitMs?: number): Promise<void>;
  /** Returns true while an import or another long write is running; undefined if this user cannot write. */
  isWriteLockHeld(): Promise<boolean | undefined>;
  /** Returns undefined on SQLite. */
  inspectServer(clock: Clock): Promise<PostgresFacts | undefined>;
  /** Returns the database server's time; undefined on SQLite, which runs in this process. */
  nowMs(): Promise<number | undefined>;
  /** Returns connection usage; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** Returns the addresses of servers that accept writes although another has replaced them; undefined on SQLite. */
  rivals(): readonly string[] | undefined;
  /** Undefined on SQLite. */
  readonly failovers: FailoverRecords | undefined;
  /** Describes the database's location for messages, without the user name or password. */
  describePlace(): Promise<string>;
  close(): Promise<void>;
}

/** See postgres/failovers.ts. */
export interface FailoverRecords {
  /** Records the server's timeline if it is new. */
  record(auditor: { readonly clock: Clock; readonly by: string }): Promise<void>;
  /** Notes that an operator has dealt with all failovers. */
  settle(nowMs: number): Promise<void>;
  inspect(): Promise<FailoverFacts>;
}

export interface FailoverFacts {
  /** Null if there was no failover. */
  readonly lastAtMs: number | null;
  /** Number of failovers that may have lost changes and are not settled yet. */
  readonly unsettled: number;
  /** Number of organisations whose transactions still have to get new stamps. */
  readonly restamping: number;
}

export interface PostgresFacts {
  /** For example 180001. */
  readonly version: number;
  /** How far the server's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  readonly bytes: number;
  readonly isReadOnly: boolean;
  /** Tables that our role is not allowed to read, is not allowed to write, or does not own. */
  readonly unreadable: readonly string[];
  readonly unwritable: readonly string[];
  readonly notOwned: readonly string[];
  readonly walLevel: string;
  readonly archiveMode: string;
  /** True if the last attempt to archive WAL failed. */
  readonly isArchiveFailing: boolean;
  /** Addresses of servers in the URL that accept writes although this one has replaced them. */
  readonly rivals: readonly string[];
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
  /** Overwrites deleted bytes with zeros. SQLite only. */
  readonly overwritesDeleted?: boolean;
  /** Role of the server to use if the URL names several; by default, the primary. PostgreSQL only. */
  readonly role?: 'primary' | 'standby';
}

/** A table that is written in bulk. */
export interface Table<Column extends string = string> {
  readonly name: string;
  /** The key columns come first. */
  readonly columns: { readonly [Name in Column]: ColumnType };
  /** Number of columns in the key; 1 by default. */
  readonly keyLength?: number;
  /** A column that never changes: existing rows with another value are not overwritten. */
  readonly owner?: string;
  /** The only column that an upsert changes in an existing row, and only if it is null. */
  readonly filledLater?: string;
}

export type TableRow<Column extends string> = Readonly<Record<Column, SqlValue>>;

export const RETAILERS = {
  name: 'retailers',
  columns: { id: 'uuid', document: 'text', source: 'text' },
} as const satisfies Table;

/** `domains` is a JSON list. */
export const LINKS = {
  name: 'links',
  columns: { id: 'uuid', kind: 'text', template: 'text', domains: 'text' },
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
    user_key: 'bigint',
    retailer_id: 'uuid',
  },
  owner: 'org_id',
} as const satisfies Table;

export interface TransactionRow {
  readonly id: Uuid;
  readonly org_id: number;
  readonly updated_at: number;
  readonly import_id: number | null;
  readonly source_updated_at: number | null;
  /** See transactions/user-key.ts; null if the document has no passbackUid. */
  readonly user_key: number | null;
  readonly retailer_id: Uuid | null;
  readonly document: string;
}

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

/**
 * Users whose transactions now have another user or none. If a version in the history names a user, then the current version
 * names the same user or this table has an entry, so a user's versions can be found without an index on the history.
 */
export const FORMER_USERS = {
  name: 'former_users',
  columns: { org_id: 'integer', user_key: 'bigint', id: 'uuid', until_stamp: 'bigint' },
  keyLength: 3,
} as const satisfies Table;

/** The amounts are decimal strings, because SQLite has no exact decimal type. */
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

export interface VersionRow {
  readonly id: Uuid;
  readonly org_id: number;
  readonly from_stamp: number;
  readonly until_stamp: number;
  readonly import_id: number | null;
  readonly document: string;
}

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

export const PULL_ROWS = {
  name: 'pull_rows',
  columns: {
    source: 'text',
    sale_id: 'text',
    part_id: 'text',
    org_id: 'integer',
    sub_id: 'text',
    due_at: 'bigint',
    seen_at: 'bigint',
    document: 'text',
  },
  keyLength: 3,
} as const satisfies Table;

export const PULL_STREAMS = {
  name: 'pull_streams',
  columns: {
    source: 'text',
    org_id: 'integer',
    stream: 'text',
    complete_through: 'bigint',
    document: 'text',
  },
  keyLength: 3,
} as const satisfies Table;

export function columnsOf<Column extends string>({ columns }: Table<Column>): Column[] {
  return Object.keys(columns) as Column[];
}

export function insertSql(table: Table, source: string): string {
  return `INSERT INTO ${table.name} (${columnsOf(table).join(', ')}) ${source}`;
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
  return `${insertSql(table, source)} ON CONFLICT (${key}) DO UPDATE SET ${assignments.join(', ')}${guard}`;
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
