// Secrets that the service has made for itself. They are never shown, and never leave the database but for a copy of it.

import type { Connection } from '../database.ts';

export async function readClickKey(connection: Pick<Connection, 'all'>): Promise<string> {
  const [row] = await connection.all<{ value: string }>("SELECT value FROM secrets WHERE name = 'click'");
  if (row === undefined) throw new Error('the key of the clicks is missing');
  return row.value;
}
