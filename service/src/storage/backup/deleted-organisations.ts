// Finds the organisations of a backup that were deleted after it was made. They come back with it, because it may be brought
// back for their sake, but their tokens must not be good again by that.

import type { Uuid } from '../../domain/uuid.ts';
import type { Connection } from '../database.ts';
import type { OldTimeline } from './new-timeline.ts';

export interface DeletedOrganisations {
  readonly names: readonly string[];
  /** As if they had been revoked when the organisation was deleted. */
  readonly tokens: OldTimeline['revokedTokens'];
}

/** `deletedAtMs`: when organisations of a name were last deleted. */
export async function findDeletedOrganisations(
  connection: Pick<Connection, 'all'>,
  deletedAtMs: ReadonlyMap<string, number>,
): Promise<DeletedOrganisations> {
  const rows = await connection.all<{ name: string; created_at: number; token_id: Uuid | null }>(
    `SELECT o.name, o.created_at, t.id AS token_id FROM organisations o LEFT JOIN tokens t ON t.org_id = o.id
     ORDER BY o.name`,
  );
  const names = new Set<string>();
  const tokens = [];
  for (const { name, created_at, token_id } of rows) {
    const revokedAtMs = deletedAtMs.get(name);
    // One of the same name was deleted before this one was made.
    if (revokedAtMs === undefined || revokedAtMs < created_at) continue;
    names.add(name);
    if (token_id !== null) tokens.push({ id: token_id, revokedAtMs });
  }
  return { names: [...names], tokens };
}
