// Copies a database into an empty one, SQLite or PostgreSQL. Clients continue with the same token from the same watermark, and
// click ids stay valid. Copies either everything or nothing. Changes made during the copy are not copied. Can be limited to some
// organisations, to split a database; the whole catalogue and all links are still copied. schema/tables.ts declares how each
// table is copied.

import { StorageError } from '../domain/storage-error.ts';
import { skipNumbers } from './backup/new-timeline.ts';
import { copyClicks } from './copy-clicks.ts';
import { type Connection, noDatabase, outdated, type SqlValue } from './database.ts';
import { openDatabase } from './open-database.ts';
import { closing } from './open-once.ts';
import { CREATE_OPTIONS, READ_OPTIONS } from './open-stores.ts';
import { type Scan, scan } from './scan.ts';
import { findSchemaState, migrate } from './schema/migrate.ts';
import type { RowOf, Table } from './schema/table.ts';
import {
  FORMER_USERS,
  HISTORY,
  IMPORT_FEEDS,
  MAIN_TABLES,
  TRANSACTIONS,
  type TransactionRow,
  type VersionRow,
} from './schema/tables.ts';
import type { Statement } from './sql.ts';
import { type Auditor, writeAudit } from './stores/audit-log.ts';
import { readClickKey } from './stores/erased-users.ts';
import { COUNTERS_SQL } from './stores/import-log.ts';
import {
  DELETED_NUMBER,
  LAST_NUMBER_SQL,
  REVISIONS,
  raiseCounter,
  raiseRevision,
} from './stores/revision.ts';

interface TableCounts {
  readonly organisations: number;
  readonly tokens: number;
  readonly retailers: number;
  readonly transactions: number;
}

export interface CopyReport extends TableCounts {
  readonly clicks: number;
}

type Row = Readonly<Record<string, SqlValue>>;

interface Counter {
  readonly name: string;
  readonly value: number;
}

const LOCK_SQL: Statement = ({ forUpdate }) => `SELECT value FROM revisions ${forUpdate}`;

/** The versions of an organisation's transactions, sorted by the time of their replacement. */
export function versionsOf(orgId: number): Scan {
  return { table: HISTORY, orgId, order: ['org_id', 'until_stamp', 'id'], nullsFirst: true };
}

export async function copyDatabase(
  fromUrl: string,
  toUrl: string,
  auditor: Auditor,
  onRows: (rows: number) => void = () => {},
  orgNames?: readonly string[],
): Promise<CopyReport> {
  await using source = closing(openDatabase(fromUrl, READ_OPTIONS));
  await using target = closing(openDatabase(toUrl, CREATE_OPTIONS));
  const state = await findSchemaState(source);
  if (state === 'none') throw noDatabase(await source.describePlace());
  if (state === 'old') throw outdated(await source.describePlace());
  await migrate(target, auditor);
  return await source.readOnce((from) =>
    target.write(async (to) => {
      // A concurrent copy waits here for this one, then finds that the target is not empty.
      await to.all(LOCK_SQL);
      if (!(await isEmpty(to)))
        throw new StorageError('exists', 'the target database is not empty; nothing was copied');
      if (await isEmpty(from))
        throw new StorageError('invalid', 'the source database is empty; nothing was copied');
      let rowsDone = 0;
      const progress = (rows: number) => {
        rowsDone += rows;
        onRows(rowsDone);
      };
      const isOurs = await selectOrganisations(from, orgNames);
      const counts = await copyTables({ from, to, orgNames, isOurs, progress });
      // Clicks use a separate connection, which commits first. Until the rest is committed, the target counts as empty, so an
      // interrupted copy can be repeated.
      const clicks = await copyClicks(fromUrl, toUrl, {
        onBatch: progress,
        isOurs: (click) => isOurs(click.orgId),
      });
      const report = { ...counts, clicks };
      await writeAudit(to, auditor, 'database copied', null, report);
      return report;
    }),
  );
}

async function isEmpty(connection: Connection): Promise<boolean> {
  for (const table of ['organisations', 'retailers']) {
    if ((await connection.all(`SELECT id FROM ${table} LIMIT 1`)).length > 0) return false;
  }
  return true;
}

/** True if rows with this organisation number are copied. Null and 0 stand for rows that belong to no organisation. */
type IsOurs = (orgId: SqlValue | undefined) => boolean;

/** Selects all organisations if `names` is undefined. */
async function selectOrganisations(from: Connection, names: readonly string[] | undefined): Promise<IsOurs> {
  if (names === undefined) return () => true;
  const organisations = await from.all<{ id: number; name: string }>('SELECT id, name FROM organisations');
  const numbers = new Map(organisations.map(({ id, name }) => [name, id]));
  const missing = names.find((name) => !numbers.has(name));
  if (missing !== undefined)
    throw new StorageError('invalid', `there is no organisation "${missing}"; nothing was copied`);
  const selected = new Set<SqlValue | undefined>([null, 0, ...names.map((name) => numbers.get(name))]);
  return (orgId) => selected.has(orgId);
}

interface Copy {
  readonly from: Connection;
  readonly to: Connection;
  readonly orgNames: readonly string[] | undefined;
  readonly isOurs: IsOurs;
  readonly progress: (rows: number) => void;
}

async function copyTables(copy: Copy): Promise<TableCounts> {
  const { from, to, orgNames } = copy;
  const counts = new Map<string, number>();
  // Organisations come first and keep their numbers, because click ids contain those numbers.
  for (const table of MAIN_TABLES)
    if (table.copied === 'rows') counts.set(table.name, await copyRows(copy, table));
  await to.all("UPDATE secrets SET value = $1 WHERE name = 'click'", await readClickKey(from));
  const newNumbers = await copyImports(copy);
  let transactions = 0;
  for (const { id } of await to.all<{ id: number }>('SELECT id FROM organisations ORDER BY id'))
    transactions += await copySales(copy, id, newNumbers);
  for (const row of await from.all<Row>(orgNames === undefined ? AUDIT_SQL : OWN_AUDIT_SQL))
    if (orgNames?.includes(String(row.org)) ?? true) await insertRow(to, 'audit', row);
  for (const name of REVISIONS) await raiseRevision(to, name);
  if (orgNames === undefined) await to.continueNumbers('organisations', LAST_NUMBER_SQL);
  else await leaveNumbers(from, to);
  const countOf = (name: string) => counts.get(name) ?? 0;
  return {
    organisations: countOf('organisations'),
    tokens: countOf('tokens'),
    retailers: countOf('retailers'),
    transactions,
  };
}

const AUDIT_SQL = 'SELECT at, made_by, action, org, details FROM audit ORDER BY id';

/** Without the entries of deleted organisations whose name was used again, and without those of the whole installation. */
const OWN_AUDIT_SQL = `SELECT at, made_by, action, org, details FROM audit a WHERE org IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM audit b WHERE b.org = a.org AND b.id > a.id AND b.action = 'organisation created') ORDER BY id`;

/** Copies the rows of the selected organisations, or all rows if they belong to no organisation. Returns their number. */
async function copyRows(
  { from, to, isOurs, progress }: Copy,
  table: Table,
  isCopied = (row: Row) => table.organisation === undefined || isOurs(row[table.organisation]),
): Promise<number> {
  let count = 0;
  await scan<Row>(from, { table }, async (batch) => {
    const ours = batch.filter(isCopied);
    if (ours.length > 0) count += await to.putMany(table, ours as RowOf<Table>[]);
    progress(batch.length);
  });
  return count;
}

/**
 * Skips organisation numbers that the source may assign later. Click ids contain these numbers, so the two databases must not
 * assign the same ones.
 */
async function leaveNumbers(from: Connection, to: Connection): Promise<void> {
  const [row] = await from.all<{ last: number | null }>(`SELECT (${LAST_NUMBER_SQL}) AS last`);
  await raiseCounter(to, DELETED_NUMBER, row?.last ?? 0);
  await skipNumbers(to);
}

/** Inserts a row and returns its id. */
async function insertRow(connection: Connection, table: string, row: Row): Promise<SqlValue> {
  const columns = Object.keys(row);
  const places = columns.map((_, i) => `$${i + 1}`);
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')}) RETURNING id`;
  const [created] = await connection.all<{ id: SqlValue }>(sql, ...Object.values(row));
  return created?.id ?? null;
}

/**
 * Returns a map from old to new import ids. The ids differ if the target already has imports. A copy of some organisations omits
 * imports of transactions without an organisation, and counts only the imports that it contains.
 */
async function copyImports(copy: Copy): Promise<ReadonlyMap<SqlValue, number>> {
  const { from, to, orgNames, isOurs } = copy;
  const newNumbers = new Map<SqlValue, number>();
  const sql = 'SELECT id, kind, org_id, began_at, ended_at, outcome, document FROM imports ORDER BY id';
  const isCopied = ({ kind, org_id }: Row) =>
    isOurs(org_id) && (orgNames === undefined || kind !== 'transactions' || (org_id ?? 0) !== 0);
  for (const { id = null, ...row } of await from.all<Row>(sql))
    if (isCopied(row)) newNumbers.set(id, (await insertRow(to, 'imports', row)) as number);
  const counted =
    orgNames === undefined
      ? await from.all<Counter>(COUNTERS_SQL)
      : await to.all<Counter>(
          "SELECT 'imports ' || kind || ' ' || outcome AS name, count(*) AS value FROM imports WHERE outcome <> 'begun' GROUP BY 1",
        );
  for (const { name, value } of counted) await raiseCounter(to, name, value);
  await copyRows(copy, IMPORT_FEEDS, isCopied);
  return newNumbers;
}

/** Returns the number of transactions copied. */
async function copySales(
  copy: Copy,
  orgId: number,
  newNumbers: ReadonlyMap<SqlValue, number>,
): Promise<number> {
  const { from, to, progress } = copy;
  const renumbered = <Sale extends TransactionRow | VersionRow>(row: Sale) => ({
    ...row,
    import_id: newNumbers.get(row.import_id) ?? null,
  });
  let count = 0;
  await scan<TransactionRow>(from, { table: TRANSACTIONS, orgId }, async (batch) => {
    count += await to.putMany(TRANSACTIONS, batch.map(renumbered));
    progress(batch.length);
  });
  await scan<VersionRow>(from, versionsOf(orgId), async (batch) => {
    await to.putMany(HISTORY, batch.map(renumbered));
    progress(batch.length);
  });
  await scan<RowOf<typeof FORMER_USERS>>(from, { table: FORMER_USERS, orgId }, async (batch) => {
    await to.putMany(FORMER_USERS, batch);
    progress(batch.length);
  });
  return count;
}
