// Records erased users, so that imports do not restore them. Users are stored as digests keyed with the database's secret. The
// digests reveal nothing without both the secret and the users' ids.

import type { Connection, Queries } from '../database.ts';
import type { RowOf } from '../schema/table.ts';
import { ERASURES } from '../schema/tables.ts';

export type ErasedUser = RowOf<typeof ERASURES>;

/** Returns the time when an organisation's user was erased; undefined if never. */
type ErasedUsers = (orgId: number, passbackUid: string) => number | undefined;

export async function readErasedUsers(connection: Connection): Promise<ErasedUsers> {
  const users = await listErasedUsers(connection);
  // Most databases have no erased users, and imports call this for every row.
  if (users.length === 0) return () => undefined;
  const key = await readClickKey(connection);
  const times = timesOf(users);
  return (orgId, passbackUid) => times.get(`${orgId} ${digestUser(key, orgId, passbackUid)}`);
}

export async function noteErased(
  connection: Connection,
  orgId: number,
  passbackUid: string,
  nowMs: number,
): Promise<void> {
  const digest = digestUser(await readClickKey(connection), orgId, passbackUid);
  await connection.putMany(ERASURES, [{ org_id: orgId, digest, erased_at: nowMs }]);
}

function listErasedUsers(connection: Queries): Promise<ErasedUser[]> {
  return connection.all<ErasedUser>('SELECT org_id, digest, erased_at FROM erasures');
}

/** Given the erasures from another database with the same secret, returns those that are missing or older in this one. */
export async function findLaterErasures(
  connection: Queries,
  others: readonly ErasedUser[],
): Promise<ErasedUser[]> {
  const known = timesOf(await listErasedUsers(connection));
  return others.filter(
    ({ org_id, digest, erased_at }) => (known.get(`${org_id} ${digest}`) ?? 0) < erased_at,
  );
}

function timesOf(users: readonly ErasedUser[]): ReadonlyMap<string, number> {
  return new Map(users.map(({ org_id, digest, erased_at }) => [`${org_id} ${digest}`, erased_at]));
}

export function digestUser(key: string, orgId: number, passbackUid: string): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(JSON.stringify(['erased', orgId, passbackUid]))
    .digest('hex');
}

/** The secret of click ids and of these digests, from which the secrets of webhooks are derived. Never shown. */
export async function readClickKey(connection: Queries): Promise<string> {
  const [row] = await connection.all<{ value: string }>("SELECT value FROM secrets WHERE name = 'click'");
  if (row === undefined) throw new Error('the secret for click ids is missing');
  return row.value;
}
