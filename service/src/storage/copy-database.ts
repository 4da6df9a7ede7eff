// Copies a database into an empty one, SQLite or PostgreSQL. Clients continue with the same token from the same watermark, and
// click ids stay valid. Copies either everything or nothing. Changes made during the copy are not copied. Can be limited to some
// organisations, to split a database; the whole catalogue and all links are still copied. schema/tables.ts declares how each
// table is copied.

import { StorageError } from '../domain/storage-error.ts';
import { REVISIONS } from '../domain/stores.ts';
import { skipNumbers } from './backup/new-timeline.ts';
import { copyClicks } from './copy-clicks.ts';
import { type Connection, noDatabase, outdated, type SqlValue } from './database.ts';
import { openDatabase } from './open-database.ts';
import { closing } from './open-once.ts';
import { CREATE_OPTIONS, READ_OPTIONS } from './open-stores.ts';
import { scan } from './scan.ts';
import { findUsableSchema, migrate } from './schema/migrate.ts';
import { keyOf, ownerOf, type RowOf, type Table } from './schema/table.ts';
import { AUDIT, HISTORY, IMPORTS, MAIN_TABLES } from './schema/tables.ts';
import type { Statement } from './sql.ts';
import { type Auditor, writeAudit } from './stores/audit-log.ts';
import { COUNTERS_SQL } from './stores/import-log.ts';
import { DELETED_NUMBER, LAST_NUMBER_SQL, raiseCounter, raiseRevision } from './stores/revision.ts';

type Row = Readonly<Record<string, SqlValue>>;

interface Counter {
  readonly name: string;
  readonly value: number;
}

const LOCK_SQL: Statement = ({ forUpdate }) => `SELECT value FROM revisions ${forUpdate}`;

/** The order in which versions were replaced. */
export const VERSIONS = { order: ['org_id', 'until_stamp', 'id'], nullsFirst: true } as const;

export async function copyDatabase(
  fromUrl: string,
  toUrl: string,
  auditor: Auditor,
  onRows: (rows: number) => void = () => {},
  orgNames?: readonly string[],
) {
  await using source = closing(openDatabase(fromUrl, READ_OPTIONS));
  await using target = closing(openDatabase(toUrl, CREATE_OPTIONS));
  const found = await findUsableSchema(source);
  if (found === undefined) throw noDatabase(await source.describePlace());
  if (found.state === 'old') throw outdated(await source.describePlace());
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
      const organisations = await selectOrganisations(from, orgNames);
      const counts = await copyTables({ from, to, organisations, isPart: orgNames !== undefined, progress });
      // Clicks use a separate connection, which commits first. Until the rest is committed, the target counts as empty, so an
      // interrupted copy can be repeated.
      const clicks = await copyClicks(fromUrl, toUrl, {
        onBatch: progress,
        isOurs: (click) => organisations.has(click.orgId),
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

/** Returns the names of these or all organisations, by number. */
async function selectOrganisations(
  from: Connection,
  names: readonly string[] | undefined,
): Promise<ReadonlyMap<number, string>> {
  const rows = await from.all<{ id: number; name: string }>('SELECT id, name FROM organisations ORDER BY id');
  const missing = names?.find((name) => !rows.some((row) => row.name === name));
  if (missing !== undefined)
    throw new StorageError('invalid', `there is no organisation "${missing}"; nothing was copied`);
  const selected = rows.filter(({ name }) => names?.includes(name) ?? true);
  return new Map(selected.map(({ id, name }) => [id, name]));
}

interface Copy {
  readonly from: Connection;
  readonly to: Connection;
  readonly organisations: ReadonlyMap<number, string>;
  /** True if the source has further organisations. */
  readonly isPart: boolean;
  readonly progress: (rows: number) => void;
}

/**
 * Conditions for a copy of some organisations, for tables whose rows may belong to none. They leave out imports of transactions
 * without an organisation, and audit entries of the installation or of deleted organisations whose name was used again.
 */
const PART: Readonly<Record<string, string>> = {
  imports: "(kind <> 'transactions' OR org_id IS NOT NULL)",
  import_feeds: "(kind <> 'transactions' OR org_id <> 0)",
  audit: `org IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM audit later WHERE later.org = audit.org AND later.id > audit.id AND later.action = 'organisation created')`,
};

async function copyTables(copy: Copy) {
  const { from, to, isPart } = copy;
  const counts = new Map<string, number>();
  const importIds = new Map<SqlValue, number>();
  for (const table of MAIN_TABLES)
    if (table.copied === undefined) counts.set(table.name, await copyRows(copy, table, importIds));
  // A copy of some organisations counts only the imports that it contains.
  const counted = isPart
    ? await to.all<Counter>(
        "SELECT 'imports ' || kind || ' ' || outcome AS name, count(*) AS value FROM imports WHERE outcome <> 'begun' GROUP BY 1",
      )
    : await from.all<Counter>(COUNTERS_SQL);
  for (const { name, value } of counted) await raiseCounter(to, name, value);
  for (const name of REVISIONS) await raiseRevision(to, name);
  if (isPart) await leaveNumbers(from, to);
  else await to.continueNumbers('organisations', LAST_NUMBER_SQL);
  const countOf = (name: string) => counts.get(name) ?? 0;
  return {
    organisations: countOf('organisations'),
    tokens: countOf('tokens'),
    retailers: countOf('retailers'),
    transactions: countOf('transactions'),
  };
}

/**
 * Copies the rows of the selected organisations, and rows that belong to no organisation. Returns their number. Organisations
 * keep their numbers, because click ids contain them. Log entries follow those that the target already has.
 */
async function copyRows(
  { from, to, organisations, isPart, progress }: Copy,
  table: Table,
  importIds: Map<SqlValue, number>,
): Promise<number> {
  const owners = new Set<SqlValue | undefined>([null, 0, ...organisations.keys(), ...organisations.values()]);
  const owner = table === AUDIT ? 'org' : ownerOf(table);
  const isLog = table.columns.id === 'neverReusedNumber';
  const lastSql = `SELECT max(id) AS last FROM ${table.name}`;
  const [row] = isLog ? await to.all<{ last: number | null }>(lastSql) : [];
  const first = row?.last ?? 0;
  let count = 0;
  const copyBatch = async (batch: readonly Row[]) => {
    const ours = batch.filter((each) => owner === undefined || !isPart || owners.has(each[owner]));
    const renumbered = ours.map((each) => {
      if ('import_id' in each) return { ...each, import_id: importIds.get(each.import_id ?? null) ?? null };
      return isLog ? { ...each, id: first + (each.id as number) } : each;
    });
    if (table === IMPORTS) for (const { id = null } of ours) importIds.set(id, first + (id as number));
    await to.putMany(table, renumbered as RowOf<Table>[]);
    count += renumbered.length;
    progress(batch.length);
  };
  const where = isPart ? PART[table.name] : undefined;
  const order = table === HISTORY ? VERSIONS : { order: keyOf(table) };
  const query = { table, ...order, ...(where !== undefined && { where }) };
  if (order.order[0] === 'org_id')
    for (const orgId of organisations.keys()) await scan<Row>(from, { ...query, orgId }, copyBatch);
  else await scan<Row>(from, query, copyBatch);
  if (isLog) await to.continueNumbers(table.name, lastSql);
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
