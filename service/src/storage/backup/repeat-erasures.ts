// After a restore, repeats the erasures that were made after the backup. The ids of erased users are not stored, so the digest
// of each user in the backup is compared with the digests of erased users. Erased users who are not in the backup are recorded
// too, because a repeated import may contain them.

import { existsSync } from 'node:fs';
import type { Database } from '../database.ts';
import { CLICK_END } from '../open-database.ts';
import { closing } from '../open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../open-stores.ts';
import { ERASURES } from '../schema/tables.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import type { Auditor } from '../stores/audit-log.ts';
import { digestUser, type ErasedUser, findLaterErasures } from '../stores/erased-users.ts';

/** Selects JSON, because SQLite alters strings with lone surrogates. */
const USERS_SQL = `SELECT document -> 'passbackUid' AS uid FROM transactions WHERE org_id = $1
  UNION SELECT document -> 'passbackUid' FROM history WHERE org_id = $1`;
const CLICKING_USERS_SQL = `SELECT DISTINCT json_quote(passback_uid) AS uid FROM clicks WHERE org_id = $1`;

/**
 * Erases these users from the database at `path` and its click file; other processes must not be using these files. Returns
 * the number of erased users.
 */
export async function repeatErasures(
  database: Database,
  path: string,
  erased: readonly ErasedUser[],
  { clock, by }: Auditor,
): Promise<number> {
  const later = await findLaterErasures(database, erased);
  if (later.length === 0) return 0;
  await using stores = closing(await openStores(`sqlite:${path}`, COMMAND_OPTIONS, clock, { by }));
  const organisations = await stores.organisations.list();
  // Drops erasures of organisations created after the backup, whose numbers are never reused.
  const known = later.filter(({ org_id }) => organisations.some(({ id }) => id === org_id));
  const key = await stores.clickKey();
  for (const org of organisations) {
    const digests = new Set(known.filter(({ org_id }) => org_id === org.id).map(({ digest }) => digest));
    if (digests.size === 0) continue;
    for (const uid of await usersOf(database, path, org.id))
      if (digests.has(digestUser(key, org.id, uid))) await stores.erasures.erase(org, uid);
  }
  // Runs last, to restore the original erasure times. erase() records the current time, which would make imports also remove
  // the user from sales made after the original erasure.
  await database.write((connection) => connection.putMany(ERASURES, known));
  return known.length;
}

async function usersOf(database: Database, path: string, orgId: number): Promise<Set<string>> {
  const users = new Set<string>();
  const note = async (from: Database, sql: string) => {
    for (const { uid } of await from.all<{ uid: string | null }>(sql, orgId)) {
      const user = JSON.parse(uid ?? 'null') as string | null;
      if (user !== null) users.add(user);
    }
  };
  await note(database, USERS_SQL);
  if (!existsSync(`${path}${CLICK_END}`)) return users;
  await using clicks = closing(openSqlite(`${path}${CLICK_END}`, COMMAND_OPTIONS));
  await note(clicks, CLICKING_USERS_SQL);
  return users;
}
