// The secrets that the service generated. They are never shown and leave the database only in a copy of it.

import type { Queries } from '../database.ts';

export async function readClickKey(connection: Queries): Promise<string> {
  const [row] = await connection.all<{ value: string }>("SELECT value FROM secrets WHERE name = 'click'");
  if (row === undefined) throw new Error('the secret for click ids is missing');
  return row.value;
}
