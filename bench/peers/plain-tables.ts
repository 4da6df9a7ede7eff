// Tables and queries of the plain implementation: prepared statements, the indexes that its queries need, and a cursor
// instead of an offset.

import { Database } from 'bun:sqlite';
import postgres from 'postgres';

type Row = Record<string, unknown>;
type Rows = readonly Row[];

export interface PlainTables {
  hasToken(digest: string): Promise<boolean>;
  findOffers(cursor: string): Promise<Rows>;
  /** Reads a page that starts at the cursor; with `since`, only later changes. */
  findTransactions(cursor: string, since: string | undefined): Promise<Rows>;
}

export function sqliteTables(path: string): PlainTables {
  const database = new Database(path, { readonly: true });
  const token = database.prepare('SELECT 1 FROM tokens WHERE digest = ?1');
  const offers = database.prepare(`
    SELECT o.*, r.name, r.url, r.logo FROM cashback_offers o JOIN retailers r ON r.id = o.retailer_id
     WHERE o.id >= ?1 ORDER BY o.id LIMIT 101`);
  const transactions = database.prepare(
    'SELECT * FROM transactions WHERE orgId = ?1 AND id >= ?2 ORDER BY id LIMIT 101',
  );
  // Without this hint, SQLite would scan by id and read nearly the whole table to find a few recent changes.
  const changes = database.prepare(`
    SELECT * FROM transactions INDEXED BY transactions_by_update
     WHERE orgId = ?1 AND updatedAt > ?3 AND id >= ?2 ORDER BY id LIMIT 101`);
  return {
    hasToken: async (digest) => token.get(digest) !== null,
    findOffers: async (cursor) => offers.all(cursor) as Row[],
    findTransactions: async (cursor, since) =>
      (since === undefined ? transactions.all(1, cursor) : changes.all(1, cursor, since)) as Row[],
  };
}

/** Transactions only, with the same number of connections as Offerbook. */
export function postgresTables(url: string): PlainTables {
  const sql = postgres(url, { max: 10 });
  return {
    hasToken: async (digest) => (await sql`SELECT 1 FROM plain.tokens WHERE digest = ${digest}`).length > 0,
    findOffers: async () => [],
    findTransactions: (cursor, since) =>
      since === undefined
        ? sql`SELECT * FROM plain.transactions WHERE "orgId" = 1 AND id >= ${cursor} ORDER BY id LIMIT 101`
        : sql`SELECT * FROM plain.transactions WHERE "orgId" = 1 AND "updatedAt" > ${since} AND id >= ${cursor}
               ORDER BY id LIMIT 101`,
  };
}
