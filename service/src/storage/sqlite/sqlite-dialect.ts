// The SQLite dialect: SQL fragments that differ between SQLite and PostgreSQL. UUIDs are stored as 16 bytes, which makes the
// database a fifth smaller and imports faster than text. Bytes and text sort alike.

import { type Dialect, uuidOfHex } from '../sql.ts';

export const SQLITE_DIALECT: Dialect = {
  valuesTable: (param, type) =>
    type === 'uuid'
      ? `(SELECT unhex(value, '-') AS value FROM json_each(${param})) AS v`
      : `json_each(${param}) AS v`,
  // WHERE true: without it, SQLite would parse ON CONFLICT after INSERT INTO … SELECT as a join condition.
  selectRows: (param, types) =>
    `SELECT ${types.map((type, i) => (type === 'uuid' ? `unhex(value ->> ${i}, '-')` : `value ->> ${i}`)).join(', ')} FROM json_each(${param}) WHERE true`,
  isOneOf: (select) => `IN (${select})`,
  position: (text, part) => `instr(${text}, ${part})`,
  jsonNumber: (column, path) => `json_extract(${column}, '$.${path.join('.')}')`,
  joinIds: 'lower(group_concat(hex(id)))',
  joinDocuments: `CAST(group_concat(document, ',') AS BLOB) AS data, count(document) AS joined`,
  joinEach: (table, _columns, condition) => `${table} AS h ON ${condition}`,
  indexedBy: (index) => `INDEXED BY ${index}`,

  forUpdate: '',
  forNoKeyUpdate: '',
  forUpdateSkipLocked: '',
  deleteRows: (table, key, rest) =>
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} ${rest})`,

  nowMs: 'NULL',

  // By default, SQLite would reuse the number of the last organisation after its deletion.
  nextNumber: (lastNumberSql) => `1 + coalesce((${lastNumberSql}), 0)`,

  ddl: {
    integer: 'INTEGER',
    bigint: 'INTEGER',
    text: 'TEXT',
    sortedText: 'TEXT',
    uuid: 'BLOB',
    number: 'INTEGER PRIMARY KEY',
    neverReusedNumber: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    unlogged: '',
    end: ' STRICT',
    growingEnd: ' STRICT',
    keyedEnd: ' STRICT, WITHOUT ROWID',
    nullsFirst: '',
    randomSecret: 'lower(hex(randomblob(32)))',
    withoutStatistics: () => [],
  },
};

/**
 * Converts the UUIDs of rows to text. The only other BLOB is the column `data`, which allWithBytes() returns. A column that is
 * neither a BLOB nor null in the first row contains no UUIDs.
 */
export function withUuids<Row>(rows: Row[]): Row[] {
  const records = rows as Record<string, unknown>[];
  for (const name in records[0]) {
    const value = records[0][name];
    if (name === 'data' || (value !== null && !(value instanceof Uint8Array))) continue;
    for (const row of records) {
      const bytes = row[name];
      if (bytes instanceof Uint8Array) row[name] = uuidOfHex(bytes.toHex());
    }
  }
  return rows;
}
