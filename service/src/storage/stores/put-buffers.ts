// Collects the transactions that a write puts, and writes them in the order of their ids. All their indexes end with
// the id, so rows in order fall side by side in each of them. A million new transactions are written in about half
// the time.

import { Refused } from '../../domain/failures.ts';
import type { PutTransaction } from '../../domain/stores.ts';
import { type Connection, TRANSACTIONS } from '../database.ts';
import type { Dialect } from '../sql-dialect.ts';
import { keepReplaced } from './transaction-history.ts';

/** The more rows are sorted together, the more of them share a page of an index. */
const ROWS_MAX = 50_000;
const CHARACTERS_MAX = 20_000_000;
/** How many rows go to the database at once: a statement should neither fill the memory nor block for long. */
const SLICE_SIZE = 2_000;

export interface PutContext {
  readonly dialect: Dialect;
  readonly importId: number | undefined;
}

/** The buffers of one write, one for each organisation. They share the memory. */
export class PutBuffers {
  readonly #connection: Connection;
  readonly #context: PutContext;
  readonly #rowsMax: number;
  readonly #buffers: PutBuffer[] = [];
  #rows = 0;
  #characters = 0;

  constructor(connection: Connection, context: PutContext, rowsMax = ROWS_MAX) {
    this.#connection = connection;
    this.#context = context;
    this.#rowsMax = rowsMax;
  }

  /** Returns the way to put transactions of an organisation that are written with this stamp. */
  open(orgId: number, stampMs: number): (rows: readonly PutTransaction[]) => Promise<void> {
    const buffer = new PutBuffer(this.#connection, { ...this.#context, orgId, stampMs });
    this.#buffers.push(buffer);
    return async (rows) => {
      await buffer.put(rows);
      this.#rows += rows.length;
      for (const { document } of rows) this.#characters += document.length;
      if (this.#rows < this.#rowsMax && this.#characters < CHARACTERS_MAX) return;
      for (const each of this.#buffers) await each.turn();
      this.#rows = 0;
      this.#characters = 0;
      // Otherwise the rows written so far stay in memory for long.
      Bun.gc(true);
    };
  }

  async flush(): Promise<void> {
    for (const buffer of this.#buffers) await buffer.flush();
  }
}

type OrganisationContext = PutContext & { readonly orgId: number; readonly stampMs: number };

class PutBuffer {
  readonly #connection: Connection;
  readonly #context: OrganisationContext;
  #filling: PutTransaction[] = [];
  /** Those that came before, sorted: some are written with every put, so that none takes long. */
  #writing: PutTransaction[] = [];

  constructor(connection: Connection, context: OrganisationContext) {
    this.#connection = connection;
    this.#context = context;
  }

  async put(rows: readonly PutTransaction[]): Promise<void> {
    for (const row of rows) this.#filling.push(row);
    // As many as came, so that the work is even and all are written when the next are due.
    await this.#write(rows.length);
  }

  async flush(): Promise<void> {
    await this.turn();
    await this.#write(this.#writing.length);
  }

  /** What was put so far is written from now on, and what was written until now is complete. */
  async turn(): Promise<void> {
    await this.#write(this.#writing.length);
    // Backwards, so that rows are taken from the end. Of two with the same id, the one put last counts.
    this.#writing = this.#filling
      .reverse()
      .sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
      .filter(({ id }, i, sorted) => id !== sorted[i - 1]?.id);
    this.#filling = [];
  }

  async #write(count: number): Promise<void> {
    for (let left = Math.min(count, this.#writing.length); left > 0; left -= SLICE_SIZE) {
      const { dialect, orgId, stampMs, importId = null } = this.#context;
      const slice = this.#writing.splice(-Math.min(left, SLICE_SIZE)).reverse();
      const replaced = slice.filter(({ isNew }) => isNew !== true).map(({ id }) => id);
      if (replaced.length > 0) await keepReplaced(this.#connection, dialect, replaced, stampMs);
      const written = await this.#connection.putMany(
        TRANSACTIONS,
        slice.map(({ id, updatedAtMs, document }) => ({
          id,
          org_id: orgId,
          updated_at: updatedAtMs,
          document,
          import_id: importId,
        })),
      );
      if (written !== slice.length) {
        throw new Refused('another organisation has just imported a transaction with one of these ids');
      }
    }
  }
}
