// The SQL that SQLite and PostgreSQL write differently. Each database provides one `Sql` object (sqlite/sqlite-sql.ts and
// postgres/postgres-sql.ts); all other storage code builds its statements from it and never asks which database it talks to.

import type { Uuid } from '@offerbook/wire/uuid.ts';

/**
 * The text of a statement, with parameters $1, $2, …, or a function that builds it. A connection builds and prepares a
 * statement once and finds it again by identity, so functions must be constants of their module.
 */
export type Statement = string | ((sql: Sql) => string);

export type ColumnType = 'uuid' | 'text' | 'bigint' | 'integer';

export interface Sql {
  /** A FROM item: a parameter that holds a JSON list, as a table `v` with a column `value`, in the order of the list. */
  valuesTable(param: string, type: 'bigint' | 'uuid' | 'text'): string;
  /** A SELECT of the rows of a JSON list of lists. */
  selectRows(param: string, types: readonly ColumnType[]): string;
  /** The rest of a condition on a column: it is one of the values that this SELECT finds. */
  isOneOf(select: string): string;
  /** A condition: the column contains the string in the parameter. */
  contains(column: string, param: string): string;
  /** A number at this path in a JSON document. */
  jsonNumber(column: string, path: readonly string[]): string;
  /** An aggregate: ids, separated by commas. See splitIds(). */
  readonly joinIds: string;
  /** Aggregates: `data`, the documents as UTF-8, separated by commas, and `joined`, their number. */
  readonly joinDocuments: string;
  /** A FROM item to CROSS JOIN, `h`: the rows of a table that meet a condition on the rows before it, one row at a time. */
  joinEach(table: string, columns: string, condition: string, rest: string): string;
  /** Forces the use of an index where the planner might choose another one. */
  indexedBy(index: string): string;

  /** Ends a SELECT: locks its rows until the commit. Empty on SQLite, which has a single writer. */
  readonly forUpdate: string;
  /** The same, but inserting a row that refers to a locked row does not wait. */
  readonly forNoKeyUpdate: string;
  /** The same as forUpdate, but leaves out rows that are locked already. */
  readonly forUpdateSkipLocked: string;
  /**
   * DELETE of the rows that `SELECT … FROM table <rest>` finds. `key` identifies a row on SQLite; PostgreSQL deletes by place
   * (ctid), because it might scan the whole table to find a list of keys.
   */
  deleteRows(table: string, key: string, rest: string): string;

  /** Lets an INSERT set the number of a row that the database would number itself. */
  readonly withGivenNumber: string;
  /** The number of a new row, after the last one that `lastNumberSql` finds. */
  nextNumber(lastNumberSql: string): string;
  /** Finds a row if the table $1 exists. */
  readonly findTable: string;

  /** How to read a table from beginning to end in pieces, in the order in which it is stored. */
  readonly pieces: TablePieces;
  readonly ddl: SchemaWords;
}

/** A table is a number of places, some of which may be empty. */
export interface TablePieces {
  /** Number of places in the table `transactions`. */
  readonly countSql: string;
  /** Number of places in a piece: about 5,000 transactions. */
  readonly size: number;
  /** A place as a parameter. */
  placeOf(index: number): string | number;
  /** A condition on table `t`: the row is at or after the place $2 and before the place $3. */
  readonly isInPiece: string;
}

/** Types and clauses of CREATE TABLE and CREATE INDEX. */
export interface SchemaWords {
  readonly integer: string;
  readonly bigint: string;
  readonly text: string;
  /** Compares bytes, whatever the locale. */
  readonly sortedText: string;
  readonly uuid: string;
  /** The key of a table whose rows the database numbers. */
  readonly number: string;
  /** The same; numbers of deleted rows are never reused. */
  readonly neverReusedNumber: string;
  /** A table whose rows may be lost after a crash. */
  readonly unlogged: string;
  /** Ends a CREATE TABLE. */
  readonly end: string;
  /** Ends the CREATE TABLE of a table that is stored in the order of its key. */
  readonly keyedEnd: string;
  /**
   * Ids are never null, so this does not affect the order. But it keeps PostgreSQL from taking transactions_by_id, or the
   * primary key of the history, for an index in the order of this one. If it took one span for the whole table, it would
   * read that index instead, and find nothing for long.
   */
  readonly nullsFirst: string;
  /** PostgreSQL reads an index on an expression without the table only if the column of the expression is in it too. */
  readonly includeStamp: string;
  /** A random secret of at least 240 bits. */
  readonly randomSecret: string;
  /** Statements that keep a column's values out of the planner's statistics. */
  withoutStatistics(table: string, column: string): readonly string[];
}

/** The ids of a `joinIds` column, which is null if there are none. */
export function splitIds(text: string | null): Uuid[] {
  return text === null ? [] : (text.split(',') as Uuid[]);
}
