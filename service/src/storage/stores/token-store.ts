// Access tokens: digests and dates, never the tokens themselves.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { NewToken, TokenStore } from '../../domain/access-token.ts';
import { type AccessToken, endMs } from '../../domain/access-token.ts';
import type { AuditAction, AuditEntry } from '../../domain/audit-log.ts';
import type { Connection, Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, writeAudit } from './audit-log.ts';
import { raiseRevision } from './revision.ts';

const COLUMNS = `t.id, t.org_id AS "orgId", o.name AS "orgName", t.kind, t.label, t.digest, t.created_at AS "createdAtMs",
  t.expires_at AS "expiresAtMs", t.overlap_ends_at AS "overlapEndsAtMs", t.revoked_at AS "revokedAtMs",
  t.last_used_at AS "lastUsedAtMs"`;
const JOINED = 'tokens t JOIN organisations o ON o.id = t.org_id';

/** If there are no tokens, the result is one row with only the revision. */
type ListedRow = { revision: number } & (AccessToken | { id: null });

/**
 * One statement, which needs no separate connection: a server that has run out of file descriptors must still notice a
 * revocation.
 */
const LIST_SQL = `SELECT r.value AS revision, ${COLUMNS} FROM revisions r LEFT JOIN (${JOINED}) ON true
  WHERE r.name = 'tokens' ORDER BY t.id`;

/** Ends the overlap of the token $1 at $2, unless it ends earlier. */
export const OVERLAP_SQL = `UPDATE tokens SET overlap_ends_at = $2
   WHERE id = $1::uuid AND (overlap_ends_at IS NULL OR overlap_ends_at > $2) RETURNING id`;
export const REVOKE_SQL =
  'UPDATE tokens SET revoked_at = $2 WHERE id = $1::uuid AND revoked_at IS NULL RETURNING id';

const LOCK_SQL: Statement = ({ forUpdate }) => `SELECT id FROM tokens WHERE id = $1::uuid ${forUpdate}`;

export function tokenStore(database: Database, auditor: Auditor): TokenStore {
  return {
    async list() {
      const rows = await database.all<ListedRow>(LIST_SQL);
      const [first] = rows;
      if (first === undefined) throw new Error('the token revision is missing');
      const tokens = rows.flatMap(({ revision: _, ...token }) => (token.id === null ? [] : [token]));
      return { revision: first.revision, tokens };
    },
    add: (token) =>
      database.write(async (connection) => {
        const id = await insert(connection, token);
        await raiseRevision(connection, 'tokens');
        const issued = await get(connection, id);
        await audit(connection, 'token issued', issued);
        return issued;
      }),
    revoke: (id) =>
      database.write(async (connection) => {
        await connection.all(REVOKE_SQL, id, auditor.clock());
        const ended = await find(connection, id);
        if (ended === undefined) return undefined;
        await raiseRevision(connection, 'tokens');
        await audit(connection, 'token revoked', ended);
        return ended;
      }),
    rotate: (id, succeed) =>
      database.write(async (connection) => {
        const locked = await connection.all(LOCK_SQL, id);
        if (locked.length === 0) return undefined;
        const { successor, overlapEndsAtMs } = succeed(await get(connection, id));
        const successorId = await insert(connection, successor);
        if (overlapEndsAtMs === null) await connection.all(REVOKE_SQL, id, auditor.clock());
        else await connection.all(OVERLAP_SQL, id, overlapEndsAtMs);
        // Raises the revision after changing the token, as revoke does: this locks the revision's row until the commit, and
        // every other change to tokens waits for the lock.
        await raiseRevision(connection, 'tokens');
        const replaced = await get(connection, id);
        await audit(connection, 'token rotated', replaced, { successor: successorId });
        return { replaced, successor: await get(connection, successorId) };
      }),
    touch: (lastUsedAtMs) =>
      database.write(async (connection) => {
        // Updates tokens in order of id, so that two servers cannot deadlock.
        for (const [id, ms] of [...lastUsedAtMs].sort(([a], [b]) => (a < b ? -1 : 1))) {
          // Does not raise the revision, because other servers need not reload.
          await connection.all(
            'UPDATE tokens SET last_used_at = $2 WHERE id = $1::uuid AND (last_used_at IS NULL OR last_used_at < $2)',
            id,
            ms,
          );
        }
      }),
  };

  function audit(
    connection: Connection,
    action: AuditAction,
    token: AccessToken,
    more: AuditEntry['details'] = {},
  ): Promise<number> {
    const { id, orgName, kind, label } = token;
    const end = endMs(token);
    const endsAt = end === null ? null : printTimestamp(end);
    return writeAudit(connection, auditor, action, orgName, { id, kind, label, endsAt, ...more });
  }

  async function insert(connection: Connection, token: NewToken): Promise<Uuid> {
    const id = newUuid();
    await connection.all(
      `INSERT INTO tokens (id, org_id, kind, label, digest, created_at, expires_at) VALUES ($1::uuid, $2, $3, $4, $5, $6, $7)`,
      id,
      token.orgId,
      token.kind,
      token.label,
      token.digest,
      auditor.clock(),
      token.expiresAtMs,
    );
    return id;
  }
}

async function find(connection: Connection, id: Uuid): Promise<AccessToken | undefined> {
  const [token] = await connection.all<AccessToken>(
    `SELECT ${COLUMNS} FROM ${JOINED} WHERE t.id = $1::uuid`,
    id,
  );
  return token;
}

async function get(connection: Connection, id: Uuid): Promise<AccessToken> {
  const token = await find(connection, id);
  if (token === undefined) throw new Error(`token ${id} does not exist`);
  return token;
}
