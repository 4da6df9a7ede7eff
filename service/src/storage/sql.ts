// SQL fragments that differ between SQLite and PostgreSQL. Each database has one `Dialect` object (sqlite/sqlite-dialect.ts and
// postgres/postgres-dialect.ts), from which all other storage code builds its statements.

import type { Uuid } from '@offerbook/wire/uuid.ts';

/**
 * The text of a statement with parameters $1, $2, …, or a function that builds it. A parameter that is compared with or stored in
 * a uuid column must be written as $1::uuid, because SQLite stores UUIDs as bytes. In results, UUIDs are text in both databases.
 * Connections cache prepared statements by identity, so these functions must be module constants.
 */
export type Statement = string | ((sql: Dialect) => string);

export type SqlValue = string | number | null;

/** A database or a connection: runs single statements. */
export interface Queries {
  all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]>;
}

export type ColumnType = 'uuid' | 'text' | 'bigint' | 'integer';

export interface Dialect {
  /** FROM item: a JSON list in a parameter, as a table `v` with a column `value`, in list order. */
  valuesTable(param: string, type: ColumnType): string;
  /** SELECT that returns the rows of a JSON list of lists. */
  selectRows(param: string, types: readonly ColumnType[]): string;
  /** Right-hand side of a condition: the column's value is in the result of this SELECT. */
  isOneOf(select: string): string;
  /** Position of the first occurrence of `part` in `text`, counted from 1; 0 if there is none. */
  position(text: string, part: string): string;
  /** The number at this path in a JSON document. */
  jsonNumber(column: string, path: readonly string[]): string;
  /** Aggregate: ids, separated by commas. See splitIds(). */
  readonly joinIds: string;
  /** Aggregates: `data`, the documents as UTF-8, separated by commas, and `joined`, the number of documents. */
  readonly joinDocuments: string;
  /** FROM item `h` for a CROSS JOIN: for each row of the tables before it, the rows of `table` that meet the condition. */
  joinEach(table: string, columns: string, condition: string, rest: string): string;
  /** Forces the use of an index. */
  indexedBy(index: string): string;

  /** Suffix for a SELECT that locks its rows until the commit. Empty on SQLite, which has a single writer. */
  readonly forUpdate: string;
  /** Like forUpdate, but inserting a row that refers to a locked row does not wait. */
  readonly forNoKeyUpdate: string;
  /** Like forUpdate, but skips locked rows. */
  readonly forUpdateSkipLocked: string;
  /**
   * DELETE of the rows that `SELECT … FROM table <rest>` returns. SQLite identifies rows by `key`. PostgreSQL identifies them
   * by ctid, because it might scan the whole table for a list of keys.
   */
  deleteRows(table: string, key: string, rest: string): string;

  /** The database server's time in milliseconds; NULL on SQLite, which runs in this process. */
  readonly nowMs: string;

  /** A new row's number: one more than the number that `lastNumberSql` returns. */
  nextNumber(lastNumberSql: string): string;

  readonly ddl: Ddl;
}

/** Types and clauses of CREATE TABLE and CREATE INDEX. */
interface Ddl {
  readonly integer: string;
  readonly bigint: string;
  readonly text: string;
  /** Text compared byte by byte, regardless of the locale. */
  readonly sortedText: string;
  readonly uuid: string;
  /** Primary key with numbers assigned by the database. */
  readonly number: string;
  /** Like `number`, but numbers of deleted rows are never reused. */
  readonly neverReusedNumber: string;
  /** For a table whose rows may be lost in a crash. */
  readonly unlogged: string;
  /** Suffix of a CREATE TABLE statement. */
  readonly end: string;
  /**
   * Suffix of a CREATE TABLE statement for a table that keeps growing. By default, PostgreSQL vacuums a table when 20 % of its
   * rows have changed. Until then, index-only scans must also read every changed page of the table.
   */
  readonly growingEnd: string;
  /** Suffix of a CREATE TABLE statement for a table that is stored in key order. */
  readonly keyedEnd: string;
  /**
   * Ids are never null, so this does not affect the order of rows, but it gives the index a sort order that no other index has.
   * Otherwise, if PostgreSQL expects a span to cover the whole table, it might read the primary key's index and skip many rows of
   * other spans.
   */
  readonly nullsFirst: string;
  /** A random secret of at least 240 bits. */
  readonly randomSecret: string;
  /** Returns statements that keep a column's values out of the planner's statistics. */
  withoutStatistics(table: string, column: string): readonly string[];
}

/** Splits a `joinIds` column, which is null if there are no ids. SQLite returns hexadecimal digits without hyphens. */
export function splitIds(text: string | null): JoinedId[] {
  return text === null ? [] : (text.split(',') as JoinedId[]);
}

/** A UUID with or without hyphens. Those of one database sort like UUIDs. */
export type JoinedId = Uuid | (string & { readonly joined: unique symbol });

export function uuidOf(id: JoinedId): Uuid {
  return id[8] === '-' ? (id as Uuid) : uuidOfHex(id);
}

/** Runs for every id of a row that SQLite returns: joining a list of parts would take several times as long. */
export function uuidOfHex(hex: string): Uuid {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
}
