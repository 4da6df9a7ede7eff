// Reads changed transactions in the order of their changes: by stamp, and within a stamp by id. A stamp becomes visible with the
// commit of its import, and stamps increase in commit order. So nothing can appear at or before a position that was read.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import type { ChangePosition, TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Database } from '../database.ts';
import { readClock } from '../stores/change-clock.ts';
import { joinDocuments } from './page-documents.ts';

/**
 * Condition and order of the transactions of an organisation after a position. Compares row values, so that the index on stamps
 * also finds a position inside a stamp, which can have a million transactions.
 */
export function afterPosition(orgId: string, stamp: string, id: string): string {
  return `WHERE (t.org_id, t.updated_at, t.id) > (${orgId}, ${stamp}, ${id}) AND t.org_id <= ${orgId}
   ORDER BY t.org_id, t.updated_at, t.id NULLS FIRST`;
}

/** $1: organisation, $2 and $3: position, $4: limit. */
export const CHANGES_SQL = `SELECT t.id, t.updated_at FROM transactions t ${afterPosition('$1', '$2', '$3::uuid')} LIMIT $4`;

export async function readChangesPage(
  database: Database,
  { orgId, limit, bytesMax = PAGE_BYTES_MAX }: TransactionQuery,
  after: ChangePosition,
): Promise<TransactionPage> {
  return database.read(async (connection) => {
    const [completeThroughMs, rows] = await Promise.all([
      readClock(connection, orgId),
      // The extra row shows whether the page ends inside a stamp.
      connection.all<{ id: Uuid; updated_at: number }>(
        CHANGES_SQL,
        orgId,
        after.stampMs,
        after.id,
        limit + 1,
      ),
    ]);
    const ids = rows.map(({ id }) => id);
    const { data, count } = await joinDocuments(connection, orgId, ids, { limit, bytesMax });
    const [last, next] = [rows[count - 1], rows[count]];
    const position: ChangePosition =
      next === undefined
        ? { stampMs: completeThroughMs, id: LAST_ID }
        : next.updated_at === last?.updated_at
          ? { stampMs: last.updated_at, id: last.id }
          : { stampMs: next.updated_at - 1, id: LAST_ID };
    return { data, cursor: undefined, completeThroughMs, position };
  });
}
