// Copies everything from one database into another that is empty, of whichever kind the two are: organisations with
// their change clocks, tokens, the catalogue, and transactions with their stamps. Whoever polls goes on with the same token
// from the same watermark. All or nothing; what is written to the first meanwhile is not in the copy.

import { BadInput, Refused } from '../domain/failures.ts';
import type { Uuid } from '../domain/uuid.ts';
import {
  type Connection,
  type Database,
  noDatabase,
  RETAILERS,
  type SqlValue,
  TRANSACTIONS,
} from './database.ts';
import { findSchemaState, migrate } from './schema/migrate.ts';
import { ALL_RETAILERS } from './stores/catalogue-store.ts';
import { readBatches } from './stores/read-batches.ts';
import { raiseRevision } from './stores/revision.ts';
import { exportQuery } from './stores/transaction-store.ts';
import { readBulkStamps } from './transactions/bulk-stamps.ts';

export interface CopyReport {
  readonly organisations: number;
  readonly tokens: number;
  readonly retailers: number;
  readonly transactions: number;
}

const TOKEN_COLUMNS = [
  'id',
  'kind',
  'label',
  'digest',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
] as const;

export async function copyDatabase(
  source: Database,
  target: Database,
  onRows: (rows: number) => void = () => {},
): Promise<CopyReport> {
  if ((await findSchemaState(source)) === 'none') throw noDatabase(await source.describePlace());
  await migrate(source);
  await migrate(target);
  return source.readOnce((from) =>
    target.write(async (to) => {
      // Of two copies at once, the second waits here for the first, and finds that it is too late.
      await to.all(`SELECT value FROM revisions${target.dialect === 'postgres' ? ' FOR UPDATE' : ''}`);
      if (!(await isEmpty(to))) throw new Refused('the database to copy to is not empty: nothing was copied');
      if (await isEmpty(from))
        throw new BadInput('there is nothing to copy: the database to copy from is empty');
      return new Copy(from, to, onRows).run();
    }),
  );
}

async function isEmpty(connection: Connection): Promise<boolean> {
  for (const table of ['organisations', 'retailers']) {
    if ((await connection.all(`SELECT id FROM ${table} LIMIT 1`)).length > 0) return false;
  }
  return true;
}

class Copy {
  readonly #from: Connection;
  readonly #to: Connection;
  readonly #onRows: (rows: number) => void;
  #rows = 0;

  constructor(from: Connection, to: Connection, onRows: (rows: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#onRows = onRows;
  }

  async run(): Promise<CopyReport> {
    const retailers = await this.#copyRetailers();
    const organisations = await this.#from.all<{
      id: number;
      name: string;
      created_at: number;
      last_stamp: number;
    }>('SELECT id, name, created_at, last_stamp FROM organisations ORDER BY id');
    let [tokens, transactions] = [0, 0];
    for (const { id, name, created_at, last_stamp } of organisations) {
      // The other database numbers its organisations itself.
      const [created] = await this.#to.all<{ id: number }>(
        'INSERT INTO organisations (name, created_at, last_stamp) VALUES ($1, $2, $3) RETURNING id',
        name,
        created_at,
        last_stamp,
      );
      if (created === undefined) throw new Error(`organisation ${id} was not written`);
      tokens += await this.#copyTokens(id, created.id);
      transactions += await this.#copyTransactions(id, created.id);
    }
    await raiseRevision(this.#to, 'catalogue');
    await raiseRevision(this.#to, 'tokens');
    return { organisations: organisations.length, tokens, retailers, transactions };
  }

  async #copyRetailers(): Promise<number> {
    let count = 0;
    await readBatches(this.#from, ALL_RETAILERS, async (batch) => {
      count += await this.#to.putMany(
        RETAILERS,
        batch.map(({ id, document }) => [id, document]),
      );
      this.#progress(batch.length);
    });
    return count;
  }

  async #copyTokens(fromOrg: number, toOrg: number): Promise<number> {
    const rows = await this.#from.all<Record<(typeof TOKEN_COLUMNS)[number], SqlValue>>(
      `SELECT ${TOKEN_COLUMNS.join(', ')} FROM tokens WHERE org_id = $1`,
      fromOrg,
    );
    const places = TOKEN_COLUMNS.map((_, i) => `$${i + 2}`).join(', ');
    for (const row of rows) {
      await this.#to.all(
        `INSERT INTO tokens (org_id, ${TOKEN_COLUMNS.join(', ')}) VALUES ($1, ${places})`,
        toOrg,
        ...TOKEN_COLUMNS.map((column) => row[column]),
      );
    }
    return rows.length;
  }

  /** Those of large writes are marked, and the stamps of these are on a list: see bulk-stamps.ts. */
  async #copyTransactions(fromOrg: number, toOrg: number): Promise<number> {
    for (const stamp of await readBulkStamps(this.#from, fromOrg)) {
      await this.#to.all('INSERT INTO bulk_writes (org_id, stamp) VALUES ($1, $2)', toOrg, stamp);
    }
    let count = 0;
    type Row = { id: Uuid; updated_at: number; document: string; in_bulk: number };
    const query = exportQuery(fromOrg, 'id, updated_at, document, in_bulk');
    await readBatches<Row>(this.#from, query, async (batch) => {
      count += await this.#to.putMany(
        TRANSACTIONS,
        batch.map(({ id, updated_at, document, in_bulk }) => [id, toOrg, updated_at, document, in_bulk]),
      );
      this.#progress(batch.length);
    });
    return count;
  }

  #progress(rows: number): void {
    this.#rows += rows;
    this.#onRows(this.#rows);
  }
}
