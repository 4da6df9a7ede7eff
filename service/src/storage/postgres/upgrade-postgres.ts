// Upgrades an old PostgreSQL database in one transaction: renames the old tables, creates and fills the new ones, and drops the
// old ones. If the process is killed, the server rolls everything back.

import { StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database } from '../database.ts';
import { findSchema } from '../schema/migrate.ts';
import { versionOf } from '../schema/schema.ts';
import { columnsOf, insertSql, type Table } from '../schema/table.ts';
import { type OldRow, type OldTables, upgradeRows } from '../schema/upgrade-rows.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';

const BATCH = 2_000;
/** How long to wait for statements of other programs. */
const LOCK_TIMEOUT_MS = 10_000;

/** A running server polls the revisions at least once a second. */
const USERS_SQL = `SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS address FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%FROM revisions%'
    AND state_change > now() - interval '5 seconds'`;

const NAMES_SQL = `SELECT t.tablename AS "table", array_to_string(array_agg(a.attname::text), ',') AS columns
   FROM pg_tables t JOIN pg_attribute a ON a.attrelid = format('%I.%I', t.schemaname, t.tablename)::regclass
  WHERE t.schemaname = current_schema() AND a.attnum > 0 AND NOT a.attisdropped GROUP BY t.tablename`;

/** Renames a table with its indexes and sequences, so that the new table can have their names. $1: tables. */
const RENAME_SQL = `
  WITH tables AS (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname = ANY ($1::text::text[])
  ), parts AS (
    SELECT oid FROM tables UNION SELECT indexrelid FROM pg_index WHERE indrelid IN (SELECT oid FROM tables)
     UNION SELECT objid FROM pg_depend WHERE refobjid IN (SELECT oid FROM tables) AND classid = 'pg_class'::regclass AND deptype = 'i'
  )
  SELECT format('ALTER %s %I RENAME TO %I', CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'i' THEN 'INDEX' ELSE 'SEQUENCE' END,
                c.relname, 'old_' || c.relname) AS statement
    FROM pg_class c JOIN parts USING (oid) WHERE c.relkind IN ('r', 'i', 'S')`;

/** The owner, and whether this role can act as the owner. */
const OWNER_SQL = `SELECT pg_get_userbyid(relowner) AS owner, pg_has_role(relowner, 'USAGE') AS "isOwner"
  FROM pg_class WHERE oid = 'schema_version'::regclass`;

/** Views that would keep the old tables from being dropped. $1: tables. */
const VIEWS_SQL = `SELECT DISTINCT r.ev_class::regclass::text AS name
  FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> c.oid
   AND n.nspname = current_schema() AND c.relname = ANY ($1::text::text[])`;

/** Statements that give the new tables to the owner of the old ones, if another role upgrades them. $1: new tables. */
const GIVE_SQL = `
  SELECT format('ALTER TABLE %I OWNER TO %I', c.relname, pg_get_userbyid(o.relowner)) AS statement
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_class o ON o.oid = 'old_schema_version'::regclass
   WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname = ANY ($1::text::text[]) AND c.relowner <> o.relowner`;

/** Statements that give the roles with rights on an old table the same rights on the new one. */
const GRANT_SQL = `
  SELECT format('GRANT %s ON %I TO %s', a.privilege_type, substr(c.relname, 5),
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END) AS statement
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN aclexplode(c.relacl) a
   WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname = ANY ($1::text::text[]) AND a.grantee <> c.relowner`;

export async function upgradePostgres(
  database: Database,
  auditor: Auditor,
  onRows: (rows: number, total: number) => void,
): Promise<void> {
  const isUpgraded = await database.write(async (connection) => {
    await connection.lockSchema();
    const found = await findSchema(database, database.schema, connection);
    // Another process has upgraded the database in the meantime.
    if (found?.state !== 'released') return false;
    await requireUnused(connection);
    await requireOwner(connection);
    const old = await renameTables(connection, database.schema.tables);
    const total = await countRows(connection, [...old.columns.keys()]);
    let done = 0;
    await upgradeRows(old, (work) => work(connection), {
      schema: database.schema,
      release: found.release,
      nowMs: auditor.clock(),
      onRows(rows) {
        done += rows;
        onRows(done, total);
      },
    });
    const { tables } = database.schema;
    for (const { name, columns } of tables)
      if (old.columns.has(name) && /number/i.test(String(columns.id)))
        await connection.continueNumbers(name, `SELECT last_value FROM old_${name}_id_seq`);
    const names = tables.map(({ name }) => name);
    await runAll(connection, GIVE_SQL, names);
    const oldNames = [...old.columns.keys()].map((table) => `old_${table}`);
    await runAll(connection, GRANT_SQL, oldNames);
    await connection.all(`DROP TABLE ${oldNames.join(', ')}`);
    const versions = { from: found.version, to: versionOf(database.schema) };
    await writeAudit(connection, auditor, 'schema migrated', null, versions);
    return true;
  }, LOCK_TIMEOUT_MS);
  // Index-only scans need a vacuumed table.
  if (isUpgraded)
    for (const { name, storage } of database.schema.tables)
      if (storage === 'growing') await database.all(`VACUUM (ANALYZE) ${name}`);
}

async function requireUnused(connection: Connection): Promise<void> {
  const users = await connection.all<{ address: string }>(USERS_SQL);
  if (users.length === 0) return;
  const addresses = users.map(({ address }) => address).join(', ');
  throw new StorageError(
    'busy',
    `servers still use the database, from ${addresses}; stop all servers and imports first (nothing was changed)`,
  );
}

async function requireOwner(connection: Connection): Promise<void> {
  const [row] = await connection.all<{ owner: string; isOwner: boolean }>(OWNER_SQL);
  if (row === undefined || row.isOwner) return;
  throw new StorageError(
    'denied',
    `this role cannot upgrade the tables, which belong to the role ${row.owner}; connect as that role (nothing was changed)`,
  );
}

async function requireNoViews(connection: Connection, tables: readonly string[]): Promise<void> {
  const views = await connection.all<{ name: string }>(VIEWS_SQL, listOf(tables));
  if (views.length === 0) return;
  throw new StorageError(
    'invalid',
    `views use the tables: ${views.map(({ name }) => name).join(', ')}; drop them, and create them again after the upgrade (nothing was changed)`,
  );
}

async function renameTables(connection: Connection, declared: readonly Table[]): Promise<OldTables> {
  const known = new Set([...declared.map(({ name }) => name), 'pull_leases', 'sender_lease']);
  const rows = await connection.all<{ table: string; columns: string }>(NAMES_SQL);
  const columns = new Map(
    rows.filter(({ table }) => known.has(table)).map((row) => [row.table, row.columns.split(',')]),
  );
  await requireNoViews(connection, [...columns.keys()]);
  await runAll(connection, RENAME_SQL, [...columns.keys()]);
  return {
    columns,
    async *read(table, order) {
      const by = order.length > 0 ? `ORDER BY ${order}` : '';
      await connection.all(`DECLARE old_rows NO SCROLL CURSOR FOR SELECT * FROM old_${table} ${by}`);
      let batch: OldRow[];
      do {
        batch = await connection.all<OldRow>(`FETCH ${BATCH} FROM old_rows`);
        yield batch;
      } while (batch.length === BATCH);
      await connection.all('CLOSE old_rows');
    },
    async copy(table) {
      const names = columnsOf(table);
      const stored = new Set(columns.get(table.name));
      const source = names.map((name) => (stored.has(name) ? name : 'NULL')).join(', ');
      const sql = insertSql(table, `OVERRIDING SYSTEM VALUE SELECT ${source} FROM old_${table.name}`);
      const conflict =
        table.firstRows === undefined ? '' : 'ON CONFLICT (name) DO UPDATE SET value = excluded.value';
      await connection.all(`${sql} ${conflict}`);
      return countRows(connection, [table.name]);
    },
  };
}

async function countRows(connection: Connection, tables: readonly string[]): Promise<number> {
  let total = 0;
  for (const table of tables) {
    const [row] = await connection.all<{ count: number }>(`SELECT count(*) AS count FROM old_${table}`);
    total += row?.count ?? 0;
  }
  return total;
}

async function runAll(connection: Connection, sql: string, tables: readonly string[]): Promise<void> {
  const rows = await connection.all<{ statement: string }>(sql, listOf(tables));
  for (const { statement } of rows) await connection.all(statement);
}

function listOf(tables: readonly string[]): string {
  return `{${tables.join(',')}}`;
}
