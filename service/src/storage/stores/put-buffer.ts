// Buffers the transactions of a write and stores them in order of id. The rows of an import are in this order in every index
// except the index by user, which makes large imports faster. The buffer also records former users, updates the daily totals and
// advances the change clocks.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { PutTransaction } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { FORMER_USERS, TRANSACTIONS, type TransactionRow } from '../schema/tables.ts';
import { userKey } from '../transactions/user-ids.ts';
import { advanceClock } from './change-clock.ts';
import { DailySums } from './daily-totals.ts';
import { keepReplaced } from './transaction-history.ts';

/** The more rows are sorted together, the more of them share an index page. */
const ROWS_MAX = 50_000;
const BYTES_MAX = 20_000_000;
/** Rows per statement; few enough to need little memory and to block only briefly. */
const SLICE_SIZE = 2_000;

interface BufferedRow extends TransactionRow {
  readonly isNew: boolean;
  /** The organisation's stamp for this write. */
  readonly stampMs: number;
  /** The replaced version's user, if it had one and the new version has a different user or none. */
  readonly formerUser: string | undefined;
}

export function putBuffer(connection: Connection, importId: number | null) {
  const totals = new DailySums();
  /** The new positions of change clocks. */
  const clocks = new Map<number, number>();
  let filling: BufferedRow[] = [];
  let bytes = 0;
  /** Earlier rows, sorted in descending order. Every put writes some of them, so that no put takes long. */
  let writing: BufferedRow[] = [];

  /** Writes the rest of the earlier rows, and sorts the rows added since. */
  async function sort(): Promise<void> {
    await write(writing.length);
    // Descending, so that rows can be taken from the end.
    writing = filling.sort((a, b) => (a.id < b.id ? 1 : -1));
    filling = [];
    bytes = 0;
  }

  async function write(count: number): Promise<void> {
    for (let left = Math.min(count, writing.length); left > 0; left -= SLICE_SIZE) {
      const slice = writing.splice(-Math.min(left, SLICE_SIZE)).reverse();
      const { added = [], replacing = [] } = Object.groupBy(slice, ({ isNew }) =>
        isNew ? 'added' : 'replacing',
      );
      for (const [orgId, puts] of Map.groupBy(replacing, (put) => put.org_id)) {
        const ids = puts.map(({ id }) => id);
        await keepReplaced(connection, orgId, ids, puts[0]?.stampMs ?? 0);
      }
      const former = slice.flatMap(({ id, org_id, stampMs: until_stamp, formerUser }) =>
        formerUser === undefined ? [] : [{ org_id, user_key: userKey(formerUser), id, until_stamp }],
      );
      if (former.length > 0) await connection.putMany(FORMER_USERS, former);
      if (added.length > 0) await connection.insertMany(TRANSACTIONS, added);
      if (replacing.length > 0) await connection.putMany(TRANSACTIONS, replacing);
    }
  }

  return {
    async put(orgId: number, stampMs: number, rows: readonly PutTransaction[]): Promise<void> {
      for (const { id, updatedAtMs, document, sourceUpdatedAtMs, retailerId, sale, replaces } of rows) {
        const { passbackUid } = sale;
        filling.push({
          id: copyOf(id),
          org_id: orgId,
          updated_at: updatedAtMs,
          document,
          import_id: importId,
          source_updated_at: sourceUpdatedAtMs ?? null,
          user_key: passbackUid === null ? null : userKey(passbackUid),
          retailer_id: retailerId ?? null,
          isNew: replaces === undefined,
          stampMs,
          formerUser:
            replaces?.passbackUid === passbackUid ? undefined : (replaces?.passbackUid ?? undefined),
        });
        bytes += Buffer.byteLength(document);
        totals.addSale(orgId, sale);
        if (replaces !== undefined) totals.addSale(orgId, replaces, -1);
        // A history load ends replaced versions at its own stamp, whatever the stamps in its rows, so the clock must reach that
        // stamp. Otherwise, a later walk would mistake the replacement for a change during the walk.
        const reachedMs = replaces === undefined ? updatedAtMs : stampMs;
        clocks.set(orgId, Math.max(clocks.get(orgId) ?? reachedMs, reachedMs));
      }
      await totals.storeIfLarge(connection);
      // Writes one earlier row per new row, so that all earlier rows are written before the next sort.
      await write(rows.length);
      if (filling.length < ROWS_MAX && bytes < BYTES_MAX) return;
      await sort();
      // Otherwise, rows already written would stay in memory for a long time.
      Bun.gc(true);
    },

    async flush(): Promise<void> {
      await sort();
      await write(writing.length);
      await totals.store(connection);
      for (const [orgId, reachedMs] of clocks) await advanceClock(connection, orgId, reachedMs);
    },
  };
}

/** A substring keeps its whole string in memory, and ids are substrings of the file's lines. */
function copyOf(id: Uuid): Uuid {
  return Buffer.from(id, 'latin1').toString('latin1') as Uuid;
}
