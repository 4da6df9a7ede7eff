// Writes the rows of an old database into new tables: what an old version stored differently is converted, and what it did not
// store yet is derived from its transactions, history and import log.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Sale } from '../../domain/transaction.ts';
import type { Connection, SqlValue } from '../database.ts';
import { DailySums, toRow } from '../stores/daily-totals.ts';
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
import { TRANSACTIONS } from './tables.ts';

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
    transactions(row) {
      const uid = (JSON.parse(row.document as string) as { passbackUid: string | null }).passbackUid;
      return { ...row, user_key: uid === null ? null : userKey(uid) };
    },
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
  const derived = release === '0.1.0' ? new Derived() : undefined;
  for (const table of schema.tables) {
    const { before, after } = createTableInParts(table, schema.sql);
    await write((connection) => runAll(connection, before));
    const convert = conversions[table.name];
    const put = async (rows: OldRow[]) => {
      await write(async (connection) => {
        await putRows(connection, table, rows);
        await derived?.note(connection, table.name, rows);
      });
      onRows(rows.length);
    };
    const rows = derived?.rowsOf(table.name);
    const stored = old.columns.get(table.name) ?? [];
    if (rows !== undefined) await put(rows);
    else if (table.name !== 'schema_version' && stored.length > 0) {
      const isCopied = convert === undefined && derived?.reads(table.name) !== true;
      if (isCopied && old.copy !== undefined) onRows(await old.copy(table));
      else
        for await (const batch of old.read(
          table.name,
          keyOf(table).filter((name) => stored.includes(name)),
        ))
          await put(convert === undefined ? batch : batch.map((row) => convert(row, nowMs)));
    }
    await write((connection) => runAll(connection, after));
  }
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

/** Contents of the tables that 0.1.0 did not have. */
class Derived {
  readonly #totals = new DailySums();
  readonly #formerUsers = new Map<string, OldRow>();
  readonly #feeds = new Map<string, OldRow>();

  reads(table: string): boolean {
    return table === 'transactions' || table === 'history' || table === 'imports';
  }

  /** Undefined for the tables of 0.1.0. */
  rowsOf(table: string): OldRow[] | undefined {
    if (table === 'daily_totals') return [...this.#totals.values()].map(toRow);
    if (table === 'former_users') return [...this.#formerUsers.values()];
    return table === 'import_feeds' ? [...this.#feeds.values()] : undefined;
  }

  async note(connection: Connection, table: string, rows: readonly OldRow[]): Promise<void> {
    if (table === 'transactions')
      for (const row of rows)
        this.#totals.addSale(row.org_id as number, JSON.parse(row.document as string) as Sale);
    if (table === 'history') await this.#noteUsers(connection, rows);
    if (table === 'imports') for (const row of rows) this.#noteFeed(row);
  }

  async #noteUsers(connection: Connection, versions: readonly OldRow[]): Promise<void> {
    for (const [orgId, rows] of Map.groupBy(versions, (row) => row.org_id as number)) {
      const ids = [...new Set(rows.map(({ id }) => id as Uuid))];
      const current = await connection.findMany(TRANSACTIONS, ids, orgId);
      const users = new Map<SqlValue | undefined, number | null>(
        current.map((row) => [row.id, row.user_key]),
      );
      for (const { id = null, until_stamp = null, document } of rows) {
        const uid = (JSON.parse(document as string) as { passbackUid: string | null }).passbackUid;
        const key = uid === null ? null : userKey(uid);
        if (key === null || key === users.get(id)) continue;
        const name = `${orgId} ${key} ${id}`;
        const before = this.#formerUsers.get(name);
        if (((before?.until_stamp as number) ?? 0) > (until_stamp as number)) continue;
        this.#formerUsers.set(name, { org_id: orgId, user_key: key, id, until_stamp });
      }
    }
  }

  /** Like an import that closes its entry in the log. */
  #noteFeed({ kind = null, org_id, ended_at = null, outcome = null, document }: OldRow): void {
    if (ended_at === null) return;
    const { source } = JSON.parse(document as string) as { source: string | null };
    for (const name of new Set(['', source ?? ''])) {
      const key = `${kind} ${org_id ?? 0} ${name}`;
      const last_success = outcome === 'done' ? ended_at : (this.#feeds.get(key)?.last_success ?? null);
      const feed = { kind, org_id: org_id ?? 0, source: name, last_success };
      this.#feeds.set(key, { ...feed, last_outcome: outcome, last_ended: ended_at });
    }
  }
}
