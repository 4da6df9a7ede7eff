// The small interface behind which SQLite and PostgreSQL stand. The stores are written once, against this;
// what differs between the databases is named here and nowhere else.

import { StorageError } from '../domain/storage-error.ts';
import type { DatabasePools } from '../domain/stores.ts';

export type SqlValue = string | number | null;

/** SQL text uses $1, $2, … for parameters on both databases; values are never put into the text. */
export interface Connection {
  all<Row>(sql: string, ...params: SqlValue[]): Promise<Row[]>;
  /** The same, but what is in a column named `data` comes as bytes: UTF-8 that is only passed on. */
  allWithBytes<Row extends { data: Uint8Array | null }>(sql: string, ...params: SqlValue[]): Promise<Row[]>;
  /** The rows whose key is one of these. */
  findMany<Row>(table: Table, keys: readonly string[]): Promise<Row[]>;
  /** Inserts rows, or overwrites those with the same key; returns how many were written. */
  putMany<Column extends string>(
    table: Table<Column>,
    rows: readonly TableRow<NoInfer<Column>>[],
  ): Promise<number>;
  deleteMany(table: Table, keys: readonly string[]): Promise<void>;
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** One statement on its own. */
  readonly all: Connection['all'];
  /** For pages of transactions, as `read` is: see `pageConnectionsMax`. */
  readonly allWithBytes: Connection['allWithBytes'];
  /** Runs work in one transaction that sees one state of the database, whatever is committed meanwhile. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** The same, for work that reads a whole table: nothing of what it has read is kept in memory for others. */
  readOnce<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs work in one transaction that is kept when it returns and undone when it throws. */
  write<T>(work: (connection: Connection) => Promise<T>, lockTimeoutMs?: number): Promise<T>;
  /** Calls back soon after another process has committed a change, and at times without reason. Returns the way to stop. */
  watch(onChange: () => void): () => void;
  /** The time of day where the database runs; undefined when that is this machine. */
  nowMs(): Promise<number | undefined>;
  /** Use of the connections; undefined on SQLite. */
  pools(): DatabasePools | undefined;
  /** Where it is, for messages: without the user and the password of its URL. */
  describePlace(): Promise<string>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /**
   * What the caller may change; everything unless given. `read` leaves the schema, the file and the files beside it as they
   * are, and rejects writes. `dry run` does the same, but allows a write that is rolled back.
   */
  readonly access?: 'read' | 'dry run' | undefined;
  /** Whether a database is made where there is none. Unless it is true, that is an error. */
  readonly create?: boolean;
  /** Whether a commit waits for the disk. What is lost without it is whole commits, never a part of one. */
  readonly durable: boolean;
  /** How long a write waits for another process that is writing before it is refused. */
  readonly lockTimeoutMs: number;
  /** How long one statement may take; 0 means as long as it needs. PostgreSQL only: SQLite runs in this process. */
  readonly statementTimeoutMs: number;
  /** How many connections may be open at once. PostgreSQL only. */
  readonly connectionsMax: number;
  /** How many more there are for pages of transactions; without any, those share the others. PostgreSQL only. */
  readonly pageConnectionsMax?: number;
  /** Whether the file is mapped for reading: faster, but what was read counts as memory of the process. SQLite only. */
  readonly mapsFile?: boolean;
  /** Whether zeros take the place of what is deleted, so that it cannot be found in the file. SQLite only. */
  readonly overwritesDeleted?: boolean;
  /** Whether a database from before the first release may be read; any other use of it is refused. */
  readonly readsUnreleased?: boolean;
  /** Which one is meant when a URL names several servers: the primary unless said otherwise. PostgreSQL only. */
  readonly role?: 'primary' | 'standby';
}

/** A table that is written in bulk. */
export interface Table<Column extends string = string> {
  readonly name: string;
  /** With their PostgreSQL types, the key first. */
  readonly columns: { readonly [Name in Column]: 'uuid' | 'text' | 'bigint' | 'integer' };
  /** How many of the first columns make the key: one, unless given. */
  readonly keyLength?: number;
  /** A column that must not change when a row is overwritten: a row that differs in it is left alone. */
  readonly owner?: string;
  /** A row that is there already stays as it is, but for this column, which is filled in where it is null. */
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

/** `INSERT INTO table (columns) <source> ON CONFLICT …`, the same on both databases. */
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
