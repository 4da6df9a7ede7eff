// The PostgreSQL schema: all tables are in one database, whose structure is read from the catalogs.

import { newSchema, type Part, type Structure } from '../schema/schema.ts';
import { keyOf } from '../schema/table.ts';
import { ALL_TABLES } from '../schema/tables.ts';
import { POSTGRES_DIALECT } from './postgres-dialect.ts';

/** All columns, constraints and other indexes of the tables in the current schema. */
const PARTS_SQL = `
  WITH tables AS (
    SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind = 'r'
  )
  SELECT t.name AS "table", a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || CASE WHEN l.oid IS NULL THEN '' ELSE ' COLLATE ' || l.collname END
         || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
         || CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END AS definition
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid JOIN pg_type y ON y.oid = a.atttypid
    LEFT JOIN pg_collation l ON l.oid = a.attcollation AND a.attcollation <> y.typcollation
   WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT t.name, pg_get_constraintdef(c.oid) FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid
   WHERE c.contype IN ('p', 'u', 'f', 'c')
  UNION ALL
  SELECT t.name, 'INDEX ' || c.relname || ' ' || substring(pg_get_indexdef(c.oid) FROM ' USING btree (.*)$')
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
   WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid)`;

const POSTGRES_STRUCTURE: Structure = {
  async read(queries) {
    // Indexes of other kinds, which an operator has added, have no definition.
    return (await queries.all<Part>(PARTS_SQL)).filter(({ definition }) => definition !== null);
  },
  expected(table, sql) {
    const { name, columns, unique = [], references = {}, values = {}, indexes = {} } = table;
    const key = keyOf(table);
    const definitions = [
      ...Object.entries(columns).map(([column, declared]) => {
        const type = declared.replace('?', '') as keyof typeof sql.ddl & string;
        const isNumber = /number/i.test(type);
        const printed = isNumber ? 'integer' : String(sql.ddl[type]);
        const required = type === declared ? ' NOT NULL' : '';
        return `${column} ${printed}${required}${isNumber ? ' GENERATED ALWAYS AS IDENTITY' : ''}`;
      }),
      ...(key.length === 0 ? [] : [`PRIMARY KEY (${key.join(', ')})`]),
      ...unique.map((list) => `UNIQUE (${list})`),
      ...Object.entries(references).map(([column, target]) => `FOREIGN KEY (${column}) REFERENCES ${target}`),
      ...Object.entries(values).map(([column, allowed = []]) => {
        const list = allowed.map((value) => `'${value}'::text`).join(', ');
        return `CHECK (${column} = ANY (ARRAY[${list}]))`;
      }),
      ...Object.entries(indexes).map(
        ([index, on]) => `INDEX ${index} ${typeof on === 'string' ? on : on(sql)}`,
      ),
    ];
    return definitions.map((definition) => ({ table: name, definition }));
  },
};

export const POSTGRES_SCHEMA = newSchema(ALL_TABLES, POSTGRES_DIALECT, POSTGRES_STRUCTURE);
