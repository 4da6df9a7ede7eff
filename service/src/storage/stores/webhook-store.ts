// Webhooks and their positions. Secrets are not stored; they are derived from the database's key.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { LAST_ID, newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { AuditAction, AuditEntry } from '../../domain/audit-log.ts';
import {
  NO_WATERMARK_MS,
  type Webhook,
  type WebhookStatus,
  type WebhookStore,
} from '../../domain/webhook.ts';
import type { Connection, Database, Queries, SqlValue } from '../database.ts';
import { afterPosition } from '../transactions/changes-page.ts';
import { type Auditor, writeAudit } from './audit-log.ts';
import { raiseRevision } from './revision.ts';

/** Other writers hold the lock only briefly, except imports on SQLite. */
const LOCK_TIMEOUT_MS = 5_000;

const COLUMNS = `w.id, w.org_id AS "orgId", o.name AS "orgName", w.url, w.created_at AS "createdAtMs", w.generation,
  w.oldest_generation AS "oldestGeneration", w.overlap_ends_at AS "overlapEndsAtMs", w.position_stamp AS "positionMs",
  w.position_id AS "positionId", w.sending_since AS "sendingSinceMs", w.revision, w.paused_at AS "pausedAtMs", w.paused_by AS "pausedBy", w.failing_since AS "failingSinceMs", w.failures,
  w.attempted_at AS "attemptedAtMs", w.retry_at AS "retryAtMs", w.last_result AS "lastResult",
  w.delivered_at AS "deliveredAtMs"`;
const JOINED = 'webhooks w JOIN organisations o ON o.id = w.org_id AND o.deleting_since IS NULL';

const BEHIND_SINCE = `(
    SELECT t.updated_at FROM transactions t ${afterPosition('w.org_id', 'w.position_stamp', 'w.position_id')} LIMIT 1
  ) AS "behindSinceMs"`;

const LIST_SQL = `SELECT ${COLUMNS}, ${BEHIND_SINCE} FROM ${JOINED} ORDER BY o.name, w.id`;

const FIND_SQL = `SELECT ${COLUMNS} FROM ${JOINED} WHERE w.id = $1::uuid`;

const BEHIND_SQL = `SELECT ${COLUMNS} FROM ${JOINED}
  WHERE w.paused_at IS NULL AND (o.last_stamp, $1::uuid) > (w.position_stamp, w.position_id) ORDER BY w.id`;

/** Never moves a position back: a node that was frozen may store its result after another node has continued. */
const SAVE_SQL = `UPDATE webhooks SET position_stamp = $3, position_id = $4::uuid, failing_since = $5, failures = $6,
    attempted_at = $7, retry_at = $8, last_result = $9, delivered_at = $10, paused_at = $11, paused_by = $12
  WHERE id = $1::uuid AND revision = $2 AND (position_stamp, position_id) <= ($3, $4::uuid)`;

export function webhookStore(database: Database, auditor: Auditor): WebhookStore {
  async function find(connection: Queries, id: Uuid): Promise<Webhook | undefined> {
    const [found] = await connection.all<Webhook>(FIND_SQL, id);
    return found;
  }

  function audit(
    connection: Connection,
    action: AuditAction,
    { id, orgName, url }: Webhook,
    more: AuditEntry['details'] = {},
  ): Promise<number> {
    // The path and the query of a URL may contain a secret.
    return writeAudit(connection, auditor, action, orgName, { id, origin: new URL(url).origin, ...more });
  }

  /** Changes an endpoint. `assignments` may use the parameters after $1, the id. */
  function change(
    id: Uuid,
    action: AuditAction,
    assignments: string,
    params: readonly SqlValue[] = [],
    details: (changed: Webhook) => AuditEntry['details'] = () => ({}),
  ): Promise<Webhook | undefined> {
    return database.write(async (connection) => {
      const sql = `UPDATE webhooks SET revision = revision + 1, ${assignments} WHERE id = $1::uuid`;
      await connection.all(sql, id, ...params);
      const changed = await find(connection, id);
      if (changed !== undefined) await audit(connection, action, changed, details(changed));
      return changed;
    });
  }

  return {
    create: (orgId, url, sinceMs) =>
      database.write(async (connection) => {
        const id = newUuid();
        await connection.all(
          `INSERT INTO webhooks (id, org_id, url, created_at, generation, oldest_generation, overlap_ends_at,
             position_stamp, position_id, sending_since, revision, failures)
           VALUES ($1::uuid, $2, $3, $4, 1, 1, 0, $5, $6::uuid, $4, 1, 0)`,
          id,
          orgId,
          url,
          auditor.clock(),
          sinceMs,
          LAST_ID,
        );
        await raiseRevision(connection, 'webhooks');
        const created = await find(connection, id);
        if (created === undefined) throw new Error(`webhook ${id} does not exist`);
        await audit(connection, 'webhook created', created, { after: printSince(sinceMs) });
        return created;
      }),
    async list() {
      const rows = await database.all<WebhookStatus>(LIST_SQL);
      return rows.map(({ behindSinceMs, ...webhook }) => ({
        ...webhook,
        behindSinceMs: behindSinceMs === null ? null : Math.max(behindSinceMs, webhook.sendingSinceMs),
      }));
    },
    find: (id) => find(database, id),
    pause: (id) =>
      change(id, 'webhook paused', "paused_at = coalesce(paused_at, $2), paused_by = 'operator'", [
        auditor.clock(),
      ]),
    resume: (id) =>
      change(
        id,
        'webhook resumed',
        `sending_since = CASE WHEN paused_at IS NULL THEN sending_since ELSE $2 END,
         paused_at = NULL, paused_by = NULL, failures = 0, retry_at = NULL`,
        [auditor.clock()],
      ),
    rotate: (id, overlapEndsAtMs) =>
      change(
        id,
        'webhook secret rotated',
        // Partners rely on the announced end of an earlier overlap, so only a rotation without an overlap ends it sooner.
        `generation = generation + 1,
         overlap_ends_at = CASE WHEN overlap_ends_at > $2 AND $2 > $3 THEN overlap_ends_at ELSE $2 END,
         oldest_generation = CASE WHEN overlap_ends_at > $3 THEN oldest_generation ELSE generation END`,
        [overlapEndsAtMs, auditor.clock()],
        (changed) => ({ oldSecretsEndAt: printTimestamp(changed.overlapEndsAtMs) }),
      ),
    replay: (id, sinceMs) =>
      change(
        id,
        'webhook replayed',
        `position_stamp = CASE WHEN position_stamp <= $2 THEN position_stamp ELSE $2 END,
         position_id = CASE WHEN position_stamp <= $2 THEN position_id ELSE $3::uuid END,
         sending_since = $4, failures = 0, retry_at = NULL`,
        [sinceMs, LAST_ID, auditor.clock()],
        () => ({ after: printSince(sinceMs) }),
      ),
    delete: (id) =>
      database.write(async (connection) => {
        const found = await find(connection, id);
        if (found === undefined) return undefined;
        await connection.all('DELETE FROM webhooks WHERE id = $1::uuid', id);
        await raiseRevision(connection, 'webhooks');
        await audit(connection, 'webhook deleted', found);
        return found;
      }),
    behind: () => database.all<Webhook>(BEHIND_SQL, LAST_ID),
    save: (updates) =>
      database.write(async (connection) => {
        // In order of id, so that two nodes cannot deadlock.
        for (const update of [...updates].sort((a, b) => (a.id < b.id ? -1 : 1)))
          await connection.all(
            SAVE_SQL,
            update.id,
            update.revision,
            update.positionMs,
            update.positionId,
            update.failingSinceMs,
            update.failures,
            update.attemptedAtMs,
            update.retryAtMs,
            update.lastResult,
            update.deliveredAtMs,
            update.pauses ? update.attemptedAtMs : null,
            update.pauses ? 'endpoint' : null,
          );
      }, LOCK_TIMEOUT_MS),
    any: async () => (await database.all('SELECT id FROM webhooks LIMIT 1')).length > 0,
  };
}

function printSince(ms: number): string | null {
  return ms === NO_WATERMARK_MS ? null : printTimestamp(ms);
}
