// The PostgreSQL dialect: SQL fragments that differ between PostgreSQL and SQLite.

import type { Dialect } from '../sql.ts';

export const POSTGRES_DIALECT: Dialect = {
  valuesTable: (param, type) =>
    `(SELECT value::${type} AS value FROM json_array_elements_text(${param}::text::json)) AS v`,
  selectRows: (param, types) =>
    `SELECT ${types.map((type, i) => `(value ->> ${i})::${type}`).join(', ')}
       FROM json_array_elements(${param}::text::json) AS v`,
  // An array makes PostgreSQL look up the values one by one, in the order of the SELECT.
  isOneOf: (select) => `= ANY (ARRAY (${select}))`,
  position: (text, part) => `strpos(${text}, ${part})`,
  jsonNumber: (column, path) => `(${column}::json #>> '{${path.join(',')}}')::bigint`,
  joinIds: `string_agg(id::text, ',')`,
  joinDocuments: `string_agg(document, ',') AS data, count(document) AS joined`,
  // `rest` contains a LIMIT, which forces a nested loop.
  joinEach: (table, columns, condition, rest) =>
    `LATERAL (SELECT ${columns} FROM ${table} WHERE ${condition} ${rest}) AS h`,
  // PostgreSQL has no index hints. The sort order and the session settings leave the planner only one index.
  indexedBy: () => '',

  forUpdate: 'FOR UPDATE',
  forNoKeyUpdate: 'FOR NO KEY UPDATE',
  forUpdateSkipLocked: 'FOR UPDATE SKIP LOCKED',
  deleteRows: (table, _key, rest) =>
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table} ${rest}))`,

  nowMs: 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint',

  nextNumber: () => 'DEFAULT',

  ddl: {
    integer: 'integer',
    bigint: 'bigint',
    text: 'text',
    sortedText: 'text COLLATE "C"',
    uuid: 'uuid',
    number: 'integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    neverReusedNumber: 'integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    unlogged: 'UNLOGGED ',
    end: '',
    growingEnd: ` WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
     autovacuum_analyze_scale_factor = 0.02)`,
    keyedEnd: '',
    nullsFirst: ' NULLS FIRST',
    // Each UUID has 122 random bits.
    randomSecret: 'gen_random_uuid()::text || gen_random_uuid()::text',
    withoutStatistics: (table, column) => [`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`],
  },
};
