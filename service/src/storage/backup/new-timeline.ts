// Tells a restored database apart from what it was before. What happened after the backup is gone, but those who poll have
// heard of it: their copies have rows, and their watermarks are stamps, of a time that has not been. So clocks go on behind
// everything that may have been announced, and all transactions of an organisation get a new stamp. Whoever polls on, from
// any watermark, gets them once more, and has what the database has.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../../domain/clock.ts';
import { withUpdatedAt } from '../../domain/stored-transaction.ts';
import { type Connection, type Database, type TableRow, TRANSACTIONS } from '../database.ts';
import { type Auditor, amendAudit, writeAudit } from '../stores/audit-log.ts';
import { advanceClock, lockClock, lockClocks } from '../stores/change-clock.ts';
import { readBatches } from '../stores/read-batches.ts';
import { DELETED_NUMBER, LAST_NUMBER_SQL, raiseCounter, raiseRevision } from '../stores/revision.ts';
import { exportQuery } from '../stores/transaction-store.ts';

/** Ids of clicks hold the numbers of organisations: those that were given after the backup must not be given again. */
const NUMBERS_SKIPPED = 1_000;
/** Rows that one transaction stamps. */
const BATCH = 5_000;

/** What is known of the database that is replaced. */
export interface OldTimeline {
  /** The last stamps, by the number of the organisation. */
  readonly clocksMs: ReadonlyMap<number, number>;
  readonly revokedTokens: readonly { readonly id: Uuid; readonly revokedAtMs: number }[];
}

export interface TimelineOptions {
  /** Undefined when nobody knows. */
  readonly old?: OldTimeline | undefined;
  /** For a copy that nobody has polled: transactions keep their stamps. */
  readonly keepsStamps: boolean;
  /** When the backup was made, for the audit. */
  readonly madeAt: string | null;
  readonly onRows?: ((rows: number) => void) | undefined;
}

export interface TimelineReport {
  /** Transactions with a new stamp. */
  readonly stamped: number;
  /** Tokens that were revoked after the backup, and are again. */
  readonly tokensRevoked: number;
}

/**
 * Moves the clocks in one transaction, and gives stamps in batches: PostgreSQL can vacuum the rows that one batch replaced while
 * the next is written, and an import that starts too early waits for a moment only. If it is interrupted, run it again.
 */
export async function beginTimeline(
  database: Database,
  auditor: Auditor,
  options: TimelineOptions,
): Promise<TimelineReport> {
  const { old, keepsStamps, madeAt, onRows = () => {} } = options;
  const { moved, tokensRevoked, entry } = await database.write(async (connection) => {
    const moved = await moveClocks(connection, auditor.clock, old);
    await skipNumbers(connection);
    const tokensRevoked = await revokeAgain(connection, old?.revokedTokens ?? []);
    for (const name of ['catalogue', 'tokens', 'activation'] as const) await raiseRevision(connection, name);
    const details = { madeAt, stamped: 0, tokensRevoked };
    const entry = await writeAudit(connection, auditor, 'database restore begun', null, details);
    return { moved, tokensRevoked, entry };
  });
  let stamped = 0;
  if (!keepsStamps)
    for (const { orgId, toMs } of moved)
      await stampAll(database, auditor.clock, orgId, toMs, (rows) => {
        stamped += rows;
        onRows(stamped);
      });
  const report = { stamped, tokensRevoked };
  await database.write((connection) =>
    amendAudit(connection, entry, { madeAt, ...report }, 'database restored'),
  );
  return report;
}

interface MovedClock {
  readonly orgId: number;
  /** The last stamp that may have been announced, or later. */
  readonly toMs: number;
}

async function moveClocks(
  connection: Connection,
  clock: Clock,
  old: OldTimeline | undefined,
): Promise<MovedClock[]> {
  const moved: MovedClock[] = [];
  for (const [orgId, lastStampMs] of await lockClocks(connection)) {
    const announcedMs = old?.clocksMs.get(orgId);
    // Nothing has changed since the backup: everybody has heard of this state, and of no other.
    if (announcedMs !== undefined && announcedMs <= lastStampMs) continue;
    const toMs = Math.max(clock(), lastStampMs, announcedMs ?? 0);
    await advanceClock(connection, orgId, toMs);
    moved.push({ orgId, toMs });
  }
  return moved;
}

/** In place: no walk can ask for what was before, because the notes about walks are gone. */
async function stampAll(
  database: Database,
  clock: Clock,
  orgId: number,
  movedToMs: number,
  onBatch: (rows: number) => void,
): Promise<void> {
  type Row = TableRow<keyof typeof TRANSACTIONS.columns> & { updated_at: number; document: string };
  const query = { ...exportQuery(orgId, 'id'), batchSize: BATCH };
  await readBatches<{ id: Uuid }>(database, query, async (batch) => {
    const ids = batch.map(({ id }) => id);
    const stamped = await database.write(async (connection) => {
      const stampMs = Math.max(clock(), (await lockClock(connection, orgId)) + 1);
      const rows = await connection.findMany<Row>(TRANSACTIONS, ids);
      // An import since then has given later stamps.
      const earlier = rows.filter((row) => row.updated_at <= movedToMs);
      const updatedAt = printTimestamp(stampMs);
      await connection.putMany(
        TRANSACTIONS,
        earlier.map((row) => ({
          ...row,
          updated_at: stampMs,
          document: withUpdatedAt(row.document, updatedAt),
        })),
      );
      await advanceClock(connection, orgId, stampMs);
      return earlier.length;
    });
    onBatch(stamped);
  });
}

async function skipNumbers(connection: Connection): Promise<void> {
  const [row] = await connection.all<{ last: number | null }>(`SELECT (${LAST_NUMBER_SQL}) AS last`);
  // By chance, so that two restores of one backup do not give the same numbers.
  const next = (row?.last ?? 0) + NUMBERS_SKIPPED + Math.floor(Math.random() * NUMBERS_SKIPPED);
  await raiseCounter(connection, DELETED_NUMBER, next);
  await connection.continueNumbers('organisations', LAST_NUMBER_SQL);
}

async function revokeAgain(connection: Connection, revoked: OldTimeline['revokedTokens']): Promise<number> {
  let count = 0;
  for (const { id, revokedAtMs } of revoked) {
    const changed = await connection.all(
      'UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND (revoked_at IS NULL OR revoked_at > $2) RETURNING id',
      id,
      revokedAtMs,
    );
    count += changed.length;
  }
  return count;
}
