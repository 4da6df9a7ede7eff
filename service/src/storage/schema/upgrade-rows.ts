// Writes the rows of an old database into new tables: what an old version stored differently is converted, and what it did not
// store yet is derived from the new tables.

import type { Transaction } from '@offerbook/wire/transaction.ts';
import { LAST_ID } from '@offerbook/wire/uuid.ts';
import type { Connection, SqlValue } from '../database.ts';
import { type Scan, scan } from '../scan.ts';
import { storeCounted } from '../stores/daily-totals.ts';
import { noteFeed } from '../stores/import-log.ts';
import { userKey } from '../transactions/user-ids.ts';
import type { OldRelease } from './old-releases.ts';
import { type Schema, setVersion } from './schema.ts';
import {
  columnsOf,
  createTableInParts,
  insertSql,
  keyOf,
  parametersOf,
  type RowOf,
  type Table,
} from './table.ts';
import { FORMER_USERS, HISTORY, IMPORTS, type TransactionRow } from './tables.ts';

export type OldRow = Readonly<Record<string, SqlValue>>;

export interface OldTables {
  /** Columns by table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Reads a table in batches, in the order of these columns. */
  read(table: string, order: readonly string[]): AsyncIterable<OldRow[]>;
  /** Copies a whole table without sending its rows to this process, if the database can. Returns the number of rows. */
  copy?(table: Table): Promise<number>;
}

/** Runs work in a database transaction, which may be the same for all work. */
type Write = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

export interface UpgradeOptions {
  readonly schema: Schema;
  /** Undefined for a file beside the main database. */
  readonly release: OldRelease | undefined;
  readonly nowMs: number;
  /** Called with the number of rows written since the last call. */
  readonly onRows: (rows: number) => void;
}

type Convert = (row: OldRow, nowMs: number) => OldRow;

/** Both old releases stored the end of a token as a time: of its revocation, or of the overlap of a rotation. */
const convertToken: Convert = (row, nowMs) => {
  const endMs = row.revoked_at as number | null;
  const isEnded = endMs !== null && endMs <= nowMs;
  return { ...row, revoked_at: isEnded ? endMs : null, overlap_ends_at: isEnded ? null : endMs };
};

/** Adds fields to a JSON document, unless it has them. */
const withFields = (row: OldRow, fields: object): OldRow => ({
  ...row,
  document: JSON.stringify({ ...fields, ...JSON.parse(row.document as string) }),
});

const CONVERSIONS: Readonly<Record<OldRelease | 'file', Readonly<Record<string, Convert>>>> = {
  '0.1.0': {
    tokens: convertToken,
    links: (row) => ({ ...row, domains: '[]' }),
    transactions: (row) => ({ ...row, user_key: userKeyOf(row.document as string) }),
    imports(row) {
      const { counts, ...rest } = JSON.parse(row.document as string) as { counts: object };
      return { ...row, document: JSON.stringify({ ...rest, counts: { stale: 0, ...counts } }) };
    },
    walks: (row) => ({ ...row, user_key: 0 }),
  },
  '6036a2ab': {
    tokens: convertToken,
    webhooks: (row) => ({
      ...row,
      position_stamp: row.watermark ?? 0,
      position_id: LAST_ID,
      sending_since: row.created_at ?? 0,
    }),
    pull_streams: (row) => withFields(row, { attemptMs: null, tryingSinceMs: null }),
  },
  // Walks of 0.1.0 have no user.
  file: { walks: (row) => ({ user_key: 0, ...row }) },
};

/** Creates the tables of a schema and fills them. Indexes are created after the rows, which is faster. */
export async function upgradeRows(
  old: OldTables,
  write: Write,
  { schema, release, nowMs, onRows }: UpgradeOptions,
): Promise<void> {
  const conversions = CONVERSIONS[release ?? 'file'];
  for (const table of schema.tables) {
    const { before, after } = createTableInParts(table, schema.sql);
    await write((connection) => runAll(connection, before));
    const convert = conversions[table.name];
    const stored = old.columns.get(table.name) ?? [];
    if (table.name !== 'schema_version' && stored.length > 0) {
      const key = keyOf(table).filter((name) => stored.includes(name));
      if (convert === undefined && old.copy !== undefined) onRows(await old.copy(table));
      else
        for await (const batch of old.read(table.name, key)) {
          const rows = convert === undefined ? batch : batch.map((row) => convert(row, nowMs));
          await write((connection) => putRows(connection, table, rows));
          onRows(rows.length);
        }
    }
    await write((connection) => runAll(connection, after));
  }
  if (release === '0.1.0') await write(fillNewTables);
  await write((connection) => setVersion(connection, schema));
}

async function runAll(connection: Connection, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await connection.all(statement);
}

async function putRows(connection: Connection, table: Table, rows: readonly OldRow[]): Promise<void> {
  const names = columnsOf(table);
  const complete = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null])));
  // Only a spool has a table without a key.
  if (keyOf(table).length > 0) await connection.putMany(table, complete as RowOf<Table>[]);
  else
    for (const row of complete)
      await connection.all(insertSql(table, `VALUES (${parametersOf(table)})`), ...Object.values(row));
}

/** Fills the tables that 0.1.0 did not have. */
async function fillNewTables(connection: Connection): Promise<void> {
  const orgs = await connection.all<{ id: number }>('SELECT id FROM organisations');
  await storeCounted(connection, new Set(orgs.map(({ id }) => id)));
  await scan<RowOf<typeof HISTORY> & Pick<TransactionRow, 'user_key'>>(connection, VERSIONS, async (rows) => {
    const former = new Map<string, RowOf<typeof FORMER_USERS>>();
    for (const { org_id, id, until_stamp, document, user_key: current } of rows) {
      const user_key = userKeyOf(document);
      if (user_key !== null && user_key !== current)
        former.set(`${org_id} ${user_key} ${id}`, { org_id, user_key, id, until_stamp });
    }
    await connection.putMany(FORMER_USERS, [...former.values()]);
  });
  await scan<RowOf<typeof IMPORTS>>(connection, { table: IMPORTS }, async (rows) => {
    for (const { kind, org_id, ended_at, outcome, document } of rows)
      if (ended_at !== null)
        await noteFeed(connection, { kind, orgId: org_id, ...JSON.parse(document) }, outcome, ended_at);
  });
}

/** Every earlier version, oldest first within a transaction, with the user of the transaction's current version. */
const VERSIONS: Scan = {
  table: HISTORY,
  columns: 'history.id, until_stamp, history.org_id, history.document, user_key',
  join: 'LEFT JOIN transactions t ON t.org_id = history.org_id AND t.id = history.id',
};

function userKeyOf(document: string): number | null {
  const { passbackUid } = JSON.parse(document) as Pick<Transaction, 'passbackUid'>;
  return passbackUid === null ? null : userKey(passbackUid);
}
