// Reapplies webhook changes that were made after the backup. A restore must not send transactions to an endpoint that has since
// been deleted or paused, nor sign with a secret that has since been replaced. Watermarks come from the backup: the restored
// transactions have newer stamps, so they are sent again.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Connection } from '../database.ts';

/** A webhook of the replaced database. */
export interface OldWebhook {
  readonly id: Uuid;
  readonly generation: number;
  readonly oldest_generation: number;
  readonly overlap_ends_at: number;
  readonly paused_at: number | null;
}

export async function keepWebhooks(
  connection: Connection,
  old: readonly OldWebhook[],
  nowMs: number,
): Promise<void> {
  const known = new Map(old.map((webhook) => [webhook.id, webhook]));
  for (const { id } of await connection.all<{ id: Uuid }>('SELECT id FROM webhooks')) {
    const webhook = known.get(id);
    const pausedAtMs = webhook === undefined ? nowMs : webhook.paused_at;
    if (pausedAtMs !== null)
      await connection.all(
        `UPDATE webhooks SET paused_at = $2, paused_by = 'restore', revision = revision + 1
          WHERE id = $1 AND paused_at IS NULL`,
        id,
        pausedAtMs,
      );
    if (webhook !== undefined)
      await connection.all(
        `UPDATE webhooks SET generation = $2, oldest_generation = $3, overlap_ends_at = $4, revision = revision + 1
          WHERE id = $1 AND generation < $2`,
        ...[id, webhook.generation, webhook.oldest_generation, webhook.overlap_ends_at],
      );
  }
}
