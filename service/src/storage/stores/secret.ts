// Secrets that the service generated. Secrets are never shown, and they leave the database only in copies and backups. The
// secrets of webhooks are derived from the click key.

import type { Queries } from '../database.ts';

export async function readClickKey(connection: Queries): Promise<string> {
  const [row] = await connection.all<{ value: string }>("SELECT value FROM secrets WHERE name = 'click'");
  if (row === undefined) throw new Error('the secret for click ids is missing');
  return row.value;
}
