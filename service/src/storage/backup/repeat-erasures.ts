// Erases again, in a database that was brought back, the users who were erased after the backup. Their identifiers are not
// written down anywhere, but what is in the backup can be held against the digests of those who were erased.

import { COMMAND_OPTIONS, openStores } from '../open-stores.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import type { Auditor } from '../stores/audit-book.ts';
import { digestUser, type ErasedUser, findLaterErasures } from '../stores/erased-users.ts';
import { readClickKey } from '../stores/secret.ts';

const USERS_SQL = `SELECT document ->> 'passbackUid' AS uid FROM transactions WHERE org_id = $1
  UNION SELECT document ->> 'passbackUid' FROM history WHERE org_id = $1`;

/** Of an SQLite database that nobody else uses; returns how many users. */
export async function repeatErasures(
  path: string,
  erased: readonly ErasedUser[],
  { clock, by }: Auditor,
): Promise<number> {
  const users = await findUsers(path, erased);
  if (users.length === 0) return 0;
  const stores = await openStores(`sqlite:${path}`, COMMAND_OPTIONS, clock, { by });
  try {
    const organisations = await stores.organisations.list();
    for (const { orgId, passbackUid } of users) {
      const org = organisations.find(({ id }) => id === orgId);
      if (org !== undefined) await stores.erasures.erase(org, passbackUid);
    }
    return users.length;
  } finally {
    await stores.close();
  }
}

async function findUsers(
  path: string,
  erased: readonly ErasedUser[],
): Promise<{ readonly orgId: number; readonly passbackUid: string }[]> {
  const database = openSqlite(path, COMMAND_OPTIONS);
  try {
    const later = await findLaterErasures(database, erased);
    const key = await readClickKey(database);
    const found = [];
    for (const orgId of new Set(later.map((user) => user.orgId))) {
      const digests = new Set(later.filter((user) => user.orgId === orgId).map(({ digest }) => digest));
      for (const { uid } of await database.all<{ uid: string | null }>(USERS_SQL, orgId)) {
        if (uid !== null && digests.has(digestUser(key, orgId, uid))) found.push({ orgId, passbackUid: uid });
      }
    }
    return found;
  } finally {
    await database.close();
  }
}
