// Collects the transactions that a write puts, and writes them in the order of their ids. All their indexes end with
// the id, so rows in order fall side by side in each of them. A million new transactions are written in about half
// the time.

import { StorageError } from '../../domain/storage-error.ts';
import type { PutTransaction } from '../../domain/stores.ts';
import { type Connection, TRANSACTIONS } from '../database.ts';
import type { Dialect } from '../sql-dialect.ts';
import { keepReplaced } from './transaction-history.ts';

/** The more rows are sorted together, the more of them share a page of an index. */
const ROWS_MAX = 50_000;
const CHARACTERS_MAX = 20_000_000;
/** How many rows go to the database at once: a statement should neither fill the memory nor block for long. */
const SLICE_SIZE = 2_000;

/** With the organisation that it belongs to, and the stamp of the write there. */
type OwnedPut = PutTransaction & { readonly orgId: number; readonly stampMs: number };

export class PutBuffer {
  readonly #connection: Connection;
  readonly #dialect: Dialect;
  readonly #importId: number | null;
  #filling: OwnedPut[] = [];
  #characters = 0;
  /** Those that came before, sorted: some are written with every put, so that none takes long. */
  #writing: OwnedPut[] = [];

  constructor(connection: Connection, dialect: Dialect, importId: number | null) {
    this.#connection = connection;
    this.#dialect = dialect;
    this.#importId = importId;
  }

  async put(orgId: number, stampMs: number, rows: readonly PutTransaction[]): Promise<void> {
    for (const row of rows) {
      this.#filling.push({ ...row, orgId, stampMs });
      this.#characters += row.document.length;
    }
    // As many as came, so that the work is even and all are written when the next are due.
    await this.#write(rows.length);
    if (this.#filling.length < ROWS_MAX && this.#characters < CHARACTERS_MAX) return;
    await this.#turn();
    // Otherwise the rows written so far stay in memory for long.
    Bun.gc(true);
  }

  async flush(): Promise<void> {
    await this.#turn();
    await this.#write(this.#writing.length);
  }

  /** What was put so far is written from now on, and what was written until now is complete. */
  async #turn(): Promise<void> {
    await this.#write(this.#writing.length);
    // Backwards, so that rows are taken from the end. Of two with the same id, the one put last counts.
    this.#writing = this.#filling
      .reverse()
      .sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
      .filter(({ id, orgId }, i, sorted) => id !== sorted[i - 1]?.id || orgId !== sorted[i - 1]?.orgId);
    this.#filling = [];
    this.#characters = 0;
  }

  async #write(count: number): Promise<void> {
    for (let left = Math.min(count, this.#writing.length); left > 0; left -= SLICE_SIZE) {
      const slice = this.#writing.splice(-Math.min(left, SLICE_SIZE)).reverse();
      const replacing = slice.filter(({ isNew }) => isNew !== true);
      for (const [stampMs, puts] of Map.groupBy(replacing, (put) => put.stampMs)) {
        const ids = puts.map(({ id }) => id);
        await keepReplaced(this.#connection, this.#dialect, ids, stampMs);
      }
      const written = await this.#connection.putMany(
        TRANSACTIONS,
        slice.map(({ id, orgId, updatedAtMs, document, sourceUpdatedAtMs }) => ({
          id,
          org_id: orgId,
          updated_at: updatedAtMs,
          document,
          import_id: this.#importId,
          source_updated_at: sourceUpdatedAtMs ?? null,
        })),
      );
      if (written !== slice.length) {
        throw new StorageError(
          'conflict',
          'another organisation has just imported a transaction with one of these ids',
        );
      }
    }
  }
}
