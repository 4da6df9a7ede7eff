// Large writes. A write gives all its transactions the same stamp, and the index by stamp holds those in the order of
// their ids: a large write is a run by itself (wide-window.ts) and needs no other index. So its transactions stay out
// of the indexes by span, which makes importing a million of them a quarter faster, and its stamp goes on a list
// instead. Whoever reads a window reads the listed stamps in it beside the spans.
//
// What must hold at every commit: a transaction is marked as written in bulk if and only if its stamp is on its
// organisation's list. History loads (--preserve-updated-at) may bring back a stamp that is on it.

import type { Connection } from '../database.ts';

/** A write of at least so many is a large one. */
export const BULK_ROWS_MIN = 20_000;
/** Every stamp on the list costs a page of a wide window an index seek. When it is full, a large write goes the usual way. */
export const BULK_STAMPS_MAX = 64;

export async function readBulkStamps(connection: Connection, orgId: number): Promise<number[]> {
  const rows = await connection.all<{ stamp: number }>(
    'SELECT stamp FROM bulk_writes WHERE org_id = $1',
    orgId,
  );
  return rows.map(({ stamp }) => stamp);
}

/** An organisation's list, for a writer who holds the lock of its clock. */
export class BulkStamps {
  readonly #connection: Connection;
  readonly #orgId: number;
  #listed: ReadonlySet<number>;

  static async read(connection: Connection, orgId: number): Promise<BulkStamps> {
    return new BulkStamps(connection, orgId, await readBulkStamps(connection, orgId));
  }

  private constructor(connection: Connection, orgId: number, listed: Iterable<number>) {
    this.#connection = connection;
    this.#orgId = orgId;
    this.#listed = new Set(listed);
  }

  has(stampMs: number): boolean {
    return this.#listed.has(stampMs);
  }

  /** Puts a stamp that no transaction has yet on the list, if there is room. Stamps that no transaction has any more make some. */
  async add(stampMs: number): Promise<void> {
    await this.#connection.all(FORGET_EMPTY_SQL, this.#orgId);
    const kept = await readBulkStamps(this.#connection, this.#orgId);
    if (kept.length < BULK_STAMPS_MAX) {
      await this.#connection.all(
        'INSERT INTO bulk_writes (org_id, stamp) VALUES ($1, $2)',
        this.#orgId,
        stampMs,
      );
      kept.push(stampMs);
    }
    this.#listed = new Set(kept);
  }
}

/** One look into the index for each stamp: a subquery with a limit cannot be turned into a join over everything. */
export const FORGET_EMPTY_SQL = `
  DELETE FROM bulk_writes WHERE org_id = $1 AND (
    SELECT id FROM transactions WHERE org_id = $1 AND updated_at = bulk_writes.stamp LIMIT 1
  ) IS NULL`;
