// Copies everything from one database into another that is empty, of whichever kind the two are: organisations with
// their change clocks, tokens, the catalogue, transactions with their stamps, and the books. Whoever polls goes on with the same token
// from the same watermark. All or nothing; what is written to the first meanwhile is not in the copy.

import { BadInput, Refused } from '../domain/failures.ts';
import type { Uuid } from '../domain/uuid.ts';
import { copyAudit, copyHistory, copyImports, type NewNumber } from './copy-books.ts';
import {
  type Connection,
  type Database,
  noDatabase,
  RETAILERS,
  type SqlValue,
  TRANSACTIONS,
} from './database.ts';
import { findSchemaState, migrate, migrateToRead } from './schema/migrate.ts';
import { type Auditor, writeAudit } from './stores/audit-book.ts';
import { ALL_RETAILERS } from './stores/catalogue-store.ts';
import { readBatches } from './stores/read-batches.ts';
import { raiseRevision } from './stores/revision.ts';
import { exportQuery } from './stores/transaction-store.ts';

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
  auditor: Auditor,
  onRows: (rows: number) => void = () => {},
): Promise<CopyReport> {
  if ((await findSchemaState(source)) === 'none') throw noDatabase(await source.describePlace());
  const hasBooks = (await migrateToRead(source)) === 'of today';
  await migrate(target);
  return source.readOnce((from) =>
    target.write(async (to) => {
      // Of two copies at once, the second waits here for the first, and finds that it is too late.
      await to.all(`SELECT value FROM revisions${target.dialect === 'postgres' ? ' FOR UPDATE' : ''}`);
      if (!(await isEmpty(to))) throw new Refused('the database to copy to is not empty: nothing was copied');
      if (await isEmpty(from))
        throw new BadInput('there is nothing to copy: the database to copy from is empty');
      const report = await new Copy(from, to, hasBooks, onRows).run();
      await writeAudit(to, auditor, 'database copied', null, { ...report });
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

class Copy {
  readonly #from: Connection;
  readonly #to: Connection;
  readonly #hasBooks: boolean;
  readonly #onRows: (rows: number) => void;
  #rows = 0;

  constructor(from: Connection, to: Connection, hasBooks: boolean, onRows: (rows: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#hasBooks = hasBooks;
    this.#onRows = onRows;
  }

  async run(): Promise<CopyReport> {
    const retailers = await this.#copyRetailers();
    const orgNumbers = await this.#copyOrganisations();
    const newNumber: NewNumber = this.#hasBooks
      ? await copyImports(this.#from, this.#to, orgNumbers)
      : () => null;
    let [tokens, transactions] = [0, 0];
    for (const [fromOrg, toOrg] of orgNumbers) {
      tokens += await this.#copyTokens(fromOrg, toOrg);
      transactions += await this.#copyTransactions(fromOrg, toOrg, newNumber);
      if (!this.#hasBooks) continue;
      await copyHistory(this.#from, this.#to, { from: fromOrg, to: toOrg }, newNumber, (rows) =>
        this.#progress(rows),
      );
    }
    if (this.#hasBooks) await copyAudit(this.#from, this.#to);
    await raiseRevision(this.#to, 'catalogue');
    await raiseRevision(this.#to, 'tokens');
    return { organisations: orgNumbers.size, tokens, retailers, transactions };
  }

  /** The other database numbers its organisations itself: returns the new number of each. */
  async #copyOrganisations(): Promise<ReadonlyMap<number, number>> {
    const numbers = new Map<number, number>();
    const rows = await this.#from.all<{ id: number; name: string; created_at: number; last_stamp: number }>(
      'SELECT id, name, created_at, last_stamp FROM organisations ORDER BY id',
    );
    for (const { id, name, created_at, last_stamp } of rows) {
      const [created] = await this.#to.all<{ id: number }>(
        'INSERT INTO organisations (name, created_at, last_stamp) VALUES ($1, $2, $3) RETURNING id',
        name,
        created_at,
        last_stamp,
      );
      if (created === undefined) throw new Error(`organisation ${id} was not written`);
      numbers.set(id, created.id);
    }
    return numbers;
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

  async #copyTransactions(fromOrg: number, toOrg: number, newNumber: NewNumber): Promise<number> {
    let count = 0;
    type Row = { id: Uuid; updated_at: number; document: string; import_id: number | null };
    const importId = this.#hasBooks ? 'import_id' : 'NULL AS import_id';
    const query = exportQuery(fromOrg, `id, updated_at, document, ${importId}`);
    await readBatches<Row>(this.#from, query, async (batch) => {
      count += await this.#to.putMany(
        TRANSACTIONS,
        batch.map(({ id, updated_at, document, import_id }) => [
          id,
          toOrg,
          updated_at,
          document,
          newNumber(import_id),
        ]),
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
