// Who was erased, so that no import brings them back: digests of users, under the key of the database. Whoever has neither
// the database nor the users' identifiers learns nothing from them.

import type { Connection } from '../database.ts';
import { readClickKey } from './secret.ts';

/** When a user of an organisation was erased; undefined for all others. */
export type ErasedUsers = (orgId: number, passbackUid: string) => number | undefined;

interface Row {
  readonly org_id: number;
  readonly digest: string;
  readonly erased_at: number;
}

const ALL_SQL = 'SELECT org_id, digest, erased_at FROM erasures';

export async function readErasedUsers(connection: Connection): Promise<ErasedUsers> {
  const rows = await connection.all<Row>(ALL_SQL);
  // Most databases have none, and an import asks for every row.
  if (rows.length === 0) return () => undefined;
  const key = await readClickKey(connection);
  const moments = new Map(rows.map(({ org_id, digest, erased_at }) => [`${org_id} ${digest}`, erased_at]));
  return (orgId, passbackUid) => moments.get(`${orgId} ${digestUser(key, orgId, passbackUid)}`);
}

export async function noteErased(
  connection: Connection,
  orgId: number,
  passbackUid: string,
  nowMs: number,
): Promise<void> {
  const digest = digestUser(await readClickKey(connection), orgId, passbackUid);
  await putErasedUsers(connection, [{ orgId, digest, erasedAtMs: nowMs }]);
}

export interface ErasedUser {
  readonly orgId: number;
  readonly digest: string;
  readonly erasedAtMs: number;
}

/** Those of another database with the same key that this one does not know, or knows from an earlier time only. */
export async function findLaterErasures(
  connection: Pick<Connection, 'all'>,
  others: readonly ErasedUser[],
): Promise<ErasedUser[]> {
  const rows = await connection.all<Row>(ALL_SQL);
  const known = new Map(rows.map(({ org_id, digest, erased_at }) => [`${org_id} ${digest}`, erased_at]));
  return others.filter(
    ({ orgId, digest, erasedAtMs }) => (known.get(`${orgId} ${digest}`) ?? 0) < erasedAtMs,
  );
}

/** Into a database that has the same key. */
export async function copyErasedUsers(from: Connection, to: Connection): Promise<void> {
  await putErasedUsers(to, (await from.all<Row>(ALL_SQL)).map(toErasedUser));
}

/** As they are: with the moments when they were erased. */
export async function putErasedUsers(connection: Connection, users: readonly ErasedUser[]): Promise<void> {
  for (const { orgId, digest, erasedAtMs } of users) {
    await connection.all(
      `INSERT INTO erasures (org_id, digest, erased_at) VALUES ($1, $2, $3)
       ON CONFLICT (org_id, digest) DO UPDATE SET erased_at = excluded.erased_at`,
      orgId,
      digest,
      erasedAtMs,
    );
  }
}

function toErasedUser({ org_id, digest, erased_at }: Row): ErasedUser {
  return { orgId: org_id, digest, erasedAtMs: erased_at };
}

export function digestUser(key: string, orgId: number, passbackUid: string): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(JSON.stringify(['erased', orgId, passbackUid]))
    .digest('hex');
}
