// The declaration of a table, and what is derived from it: the type of its rows, its DDL, and the statements that write many
// rows at once.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ColumnType, Dialect } from '../sql.ts';

/**
 * `sortedText` is compared byte by byte, regardless of the locale. A `number` is a primary key that the database assigns; a
 * `neverReusedNumber` is not assigned again after its row is deleted.
 */
type StoredType = ColumnType | 'sortedText' | 'number' | 'neverReusedNumber';
/** A trailing question mark allows null. */
export type Column = StoredType | `${StoredType}?`;

type Columns = Readonly<Record<string, Column>>;

export interface Table<C extends Columns = Columns> {
  readonly name: string;
  /** The columns of the primary key come first. */
  readonly columns: C;
  /** Number of columns in the primary key. Default: 1; 0 if the table has none. */
  readonly keyLength?: number;
  /** Column lists that are unique, such as `name` or `system, timeline`. */
  readonly unique?: readonly string[];
  /** Foreign keys: the end of the column's definition after REFERENCES. */
  readonly references?: Readonly<Partial<Record<keyof C, string>>>;
  /** The allowed values of a column. */
  readonly values?: Readonly<Partial<Record<keyof C, readonly string[]>>>;
  /** Everything after `ON table`, by index name. */
  readonly indexes?: Readonly<Record<string, string | ((sql: Dialect) => string)>>;
  /** `growing`: vacuumed often. `by key`: stored in the order of the primary key. */
  readonly storage?: 'growing' | 'by key';
  /** True if a crash of PostgreSQL may lose the rows. */
  readonly isUnlogged?: true;
  /** Columns with data of users. They stay out of the planner's statistics, where erasures would not find them. */
  readonly personal?: readonly (keyof C & string)[];
  /** When the deletion of an organisation deletes the rows that belong to it. Default: last. */
  readonly deleted?: 'first' | 'in batches';
  /** How `copy` treats the table. Default: it copies all rows of the selected organisations, and those that belong to none. */
  readonly copied?: 'by code' | 'not';
  /** The only column that an upsert changes in an existing row, and only if it is null. */
  readonly filledLater?: keyof C & string;
  /** Rows of a new database: INSERT statements. */
  readonly firstRows?: (sql: Dialect) => readonly string[];
}

type ValueOf<C extends Column> = C extends `${infer Type}?` ? Stored<Type> | null : Stored<C>;
type Stored<Type extends string> = Type extends 'uuid'
  ? Uuid
  : Type extends 'text' | 'sortedText'
    ? string
    : number;

/** A row of a table as the database returns it. */
export type RowOf<T extends Table> = { readonly [Name in keyof T['columns']]: ValueOf<T['columns'][Name]> };

/** Checks a declaration and keeps its exact type. */
export function table<const C extends Columns, const T extends Omit<Table<C>, 'columns'>>(
  declared: T & { readonly columns: C },
): T & { readonly columns: C } {
  return declared;
}

export function columnsOf<T extends Table>({ columns }: T): (keyof T['columns'] & string)[] {
  return Object.keys(columns);
}

/** The column with the number of a row's organisation; undefined if rows belong to the installation. */
export function ownerOf({ name, columns }: Table): string | undefined {
  if (name === 'organisations') return 'id';
  return 'org_id' in columns ? 'org_id' : undefined;
}

/** The same columns, in a table that allows null in each. */
export function nullable<C extends Columns>(columns: C): { [Name in keyof C]: `${StoredType}?` } {
  const entries = Object.entries(columns).map(([name, type]) => [name, `${type.replace('?', '')}?`]);
  return Object.fromEntries(entries);
}

/** The type of a column in parameters. */
export function typeOf({ columns }: Table, name: string): ColumnType {
  const type = columns[name]?.replace('?', '');
  if (type === 'uuid' || type === 'bigint') return type;
  return type === 'text' || type === 'sortedText' ? 'text' : 'integer';
}

export function keyOf(declared: Table): string[] {
  return columnsOf(declared).slice(0, declared.keyLength ?? 1);
}

/** The statements that create a table with its indexes and first rows. Rows written between the two parts are indexed faster. */
export function createTable(declared: Table, sql: Dialect): string[] {
  const { before, after } = createTableInParts(declared, sql);
  return [...before, ...after];
}

export function createTableInParts(declared: Table, sql: Dialect): { before: string[]; after: string[] } {
  const { name, columns, unique = [], references = {}, values = {}, indexes = {}, personal = [] } = declared;
  const { ddl } = sql;
  const isNumbered = Object.values(columns).some((column) => /number/i.test(column));
  const key = isNumbered ? [] : keyOf(declared);
  const lines = Object.entries(columns).map(([column, declaredType]) => {
    const type = declaredType.replace('?', '') as StoredType;
    const isRequired = type === declaredType && !/number/i.test(type);
    const allowed = values[column]?.map((value) => `'${value}'`).join(', ');
    return [
      `${column} ${ddl[type]}`,
      ...(isRequired ? ['NOT NULL'] : []),
      ...(references[column] === undefined ? [] : [`REFERENCES ${references[column]}`]),
      ...(allowed === undefined ? [] : [`CHECK (${column} IN (${allowed}))`]),
    ].join(' ');
  });
  if (key.length > 0) lines.push(`PRIMARY KEY (${key.join(', ')})`);
  lines.push(...unique.map((list) => `UNIQUE (${list})`));
  const ends = { growing: ddl.growingEnd, 'by key': ddl.keyedEnd };
  const end = declared.storage === undefined ? ddl.end : ends[declared.storage];
  const unlogged = declared.isUnlogged ? ddl.unlogged : '';
  return {
    before: [
      `CREATE ${unlogged}TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${end}`,
      // No query plan needs these statistics.
      ...personal.flatMap((column) => ddl.withoutStatistics(name, column)),
      ...(declared.firstRows?.(sql) ?? []),
    ],
    after: Object.entries(indexes).map(
      ([index, on]) => `CREATE INDEX ${index} ON ${name} ${typeof on === 'string' ? on : on(sql)}`,
    ),
  };
}

/** Parameters with the values of all columns, or of those in a list. */
export function parametersOf(declared: Table, columns: readonly string[] = columnsOf(declared)): string {
  return columns.map((name, i) => `$${i + 1}${typeOf(declared, name) === 'uuid' ? '::uuid' : ''}`).join(', ');
}

export function insertSql(declared: Table, source: string): string {
  return `INSERT INTO ${declared.name} (${columnsOf(declared).join(', ')}) ${source}`;
}

/** `INSERT INTO table (columns) <source> ON CONFLICT …`. */
export function upsertSql(declared: Table, source: string): string {
  const { name, filledLater } = declared;
  const key = keyOf(declared);
  const rest = columnsOf(declared).slice(key.length);
  const assignments =
    filledLater === undefined
      ? rest.map((column) => `${column} = excluded.${column}`)
      : [`${filledLater} = coalesce(${name}.${filledLater}, excluded.${filledLater})`];
  return `${insertSql(declared, source)} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${assignments.join(', ')}`;
}
