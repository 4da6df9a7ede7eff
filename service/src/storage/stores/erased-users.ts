// Who was erased, so that no import brings them back: digests of users, under the key of the database. Whoever has neither
// the database nor the users' identifiers learns nothing from them.

import { type Connection, ERASURES } from '../database.ts';
import { readClickKey } from './secret.ts';

/** A user, as a row. */
export interface ErasedUser {
  readonly org_id: number;
  readonly digest: string;
  readonly erased_at: number;
}

/** When a user of an organisation was erased; undefined for all others. */
export type ErasedUsers = (orgId: number, passbackUid: string) => number | undefined;

export async function readErasedUsers(connection: Connection): Promise<ErasedUsers> {
  const users = await listErasedUsers(connection);
  // Most databases have none, and an import asks for every row.
  if (users.length === 0) return () => undefined;
  const key = await readClickKey(connection);
  const moments = momentsOf(users);
  return (orgId, passbackUid) => moments.get(`${orgId} ${digestUser(key, orgId, passbackUid)}`);
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

export function listErasedUsers(connection: Pick<Connection, 'all'>): Promise<ErasedUser[]> {
  return connection.all<ErasedUser>('SELECT org_id, digest, erased_at FROM erasures');
}

/** Those of another database with the same key that this one does not know, or knows from an earlier time only. */
export async function findLaterErasures(
  connection: Pick<Connection, 'all'>,
  others: readonly ErasedUser[],
): Promise<ErasedUser[]> {
  const known = momentsOf(await listErasedUsers(connection));
  return others.filter(
    ({ org_id, digest, erased_at }) => (known.get(`${org_id} ${digest}`) ?? 0) < erased_at,
  );
}

function momentsOf(users: readonly ErasedUser[]): ReadonlyMap<string, number> {
  return new Map(users.map(({ org_id, digest, erased_at }) => [`${org_id} ${digest}`, erased_at]));
}

export function digestUser(key: string, orgId: number, passbackUid: string): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(JSON.stringify(['erased', orgId, passbackUid]))
    .digest('hex');
}
