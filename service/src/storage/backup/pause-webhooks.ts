// Pauses restored webhooks until an operator confirms them. A restore must not send transactions to an endpoint that has been
// deleted or paused since the backup, nor sign with a secret that has been replaced. So only webhooks that are the same in the
// replaced database continue. Positions come from the backup: the restored transactions have newer stamps, so they are sent
// again.

import type { Connection } from '../database.ts';
import type { RowOf } from '../schema/table.ts';
import type { WEBHOOKS } from '../schema/tables.ts';

/** A webhook of the restored or of the replaced database. */
export type OldWebhook = Pick<
  RowOf<typeof WEBHOOKS>,
  'id' | 'org_id' | 'url' | 'generation' | 'oldest_generation' | 'overlap_ends_at' | 'paused_at'
>;

export const WEBHOOKS_SQL =
  'SELECT id, org_id, url, generation, oldest_generation, overlap_ends_at, paused_at FROM webhooks';

/** `old` is undefined if the replaced database could not be read. Returns the number of webhooks that wait for the operator. */
export async function pauseWebhooks(
  connection: Connection,
  old: readonly OldWebhook[] | undefined,
  nowMs: number,
): Promise<number> {
  const known = new Map(old?.map((webhook) => [webhook.id, webhook]));
  for (const restored of await connection.all<OldWebhook>(WEBHOOKS_SQL)) {
    const replaced = known.get(restored.id);
    // Keeps the newer secret.
    if (replaced !== undefined && replaced.generation > restored.generation)
      await connection.all(
        'UPDATE webhooks SET generation = $2, oldest_generation = $3, overlap_ends_at = $4 WHERE id = $1::uuid',
        ...[replaced.id, replaced.generation, replaced.oldest_generation, replaced.overlap_ends_at],
      );
    const isPaused = restored.paused_at !== null;
    if (replaced === undefined ? isPaused : isSame(replaced, restored)) continue;
    await connection.all(
      "UPDATE webhooks SET paused_at = $2, paused_by = 'restore', revision = revision + 1 WHERE id = $1::uuid",
      restored.id,
      nowMs,
    );
  }
  // Includes webhooks that an interrupted or earlier restore has paused.
  return (await connection.all("SELECT id FROM webhooks WHERE paused_by = 'restore'")).length;
}

function isSame(one: OldWebhook, other: OldWebhook): boolean {
  const facts = ({ org_id, url, generation, paused_at }: OldWebhook) =>
    JSON.stringify([org_id, url, generation, paused_at !== null]);
  return facts(one) === facts(other);
}
