// Access tokens: digests and dates, never the tokens themselves.

import type { AccessToken, TokenKind } from '../../domain/access-token.ts';
import type { AuditAction, AuditEntry } from '../../domain/books.ts';
import type { NewToken, TokenStore } from '../../domain/stores.ts';
import { newUuid, type Uuid } from '../../domain/uuid.ts';
import type { Connection, Database } from '../database.ts';
import { type Auditor, writeAudit } from './audit-book.ts';
import { raiseRevision } from './revision.ts';

interface Row {
  id: Uuid;
  org_id: number;
  org_name: string;
  kind: TokenKind;
  label: string;
  digest: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

const COLUMNS = `t.id, t.org_id, o.name AS org_name, t.kind, t.label, t.digest, t.created_at, t.expires_at,
  t.revoked_at, t.last_used_at`;
const JOINED = 'tokens t JOIN organisations o ON o.id = t.org_id';
const SELECT = `SELECT ${COLUMNS} FROM ${JOINED}`;

/** The revision stands beside every token, and alone in one row when there are none. */
type ListedRow = { revision: number } & (Row | { id: null });

/**
 * One statement reads one state of the database, and needs no connection of its own: a server that can open no
 * further one must still hear of a revocation.
 */
const LIST_SQL = `SELECT r.value AS revision, ${COLUMNS} FROM revisions r LEFT JOIN (${JOINED}) ON true
  WHERE r.name = 'tokens' ORDER BY t.id`;

export function tokenStore(database: Database, auditor: Auditor): TokenStore {
  return {
    async list() {
      const rows = await database.all<ListedRow>(LIST_SQL);
      const [first] = rows;
      if (first === undefined) throw new Error('the revision of the tokens is missing');
      return { revision: first.revision, tokens: rows.filter(isToken).map(toToken) };
    },
    add: (token) =>
      database.write(async (connection) => {
        const added = await add(connection, token);
        await audit(connection, 'token issued', added, {});
        return added;
      }),
    endAt: (id, endsAtMs) =>
      database.write(async (connection) => {
        const ended = await endAt(connection, id, endsAtMs);
        if (ended !== undefined) await audit(connection, 'token revoked', ended, {});
        return ended;
      }),
    rotate: (id, successor, endsAtMs) =>
      database.write(async (connection) => {
        const replaced = await endAt(connection, id, endsAtMs);
        if (replaced === undefined) return undefined;
        const added = await add(connection, successor);
        await audit(connection, 'token rotated', replaced, { successor: added.id });
        return { replaced, successor: added };
      }),
    touch: (lastUsedAtMs) =>
      database.write(async (connection) => {
        // In one order everywhere, so that two servers never wait for each other.
        for (const [id, ms] of [...lastUsedAtMs].sort(([a], [b]) => (a < b ? -1 : 1))) {
          // Not a change that other servers need to hear of, so the revision stays.
          await connection.all(
            'UPDATE tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)',
            id,
            ms,
          );
        }
      }),
  };

  function audit(
    connection: Connection,
    action: AuditAction,
    { id, orgName, kind, label }: AccessToken,
    more: AuditEntry['details'],
  ): Promise<void> {
    return writeAudit(connection, auditor, action, orgName, { id, kind, label, ...more });
  }

  async function add(connection: Connection, token: NewToken): Promise<AccessToken> {
    const id = newUuid();
    await connection.all(
      `INSERT INTO tokens (id, org_id, kind, label, digest, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      id,
      token.orgId,
      token.kind,
      token.label,
      token.digest,
      auditor.clock(),
      token.expiresAtMs,
    );
    await raiseRevision(connection, 'tokens');
    return get(connection, id);
  }

  async function endAt(connection: Connection, id: Uuid, endsAtMs: number): Promise<AccessToken | undefined> {
    const found = await connection.all(
      `UPDATE tokens SET revoked_at = CASE WHEN revoked_at < $2 THEN revoked_at ELSE $2 END WHERE id = $1 RETURNING id`,
      id,
      endsAtMs,
    );
    if (found.length === 0) return undefined;
    await raiseRevision(connection, 'tokens');
    return get(connection, id);
  }
}

async function get(connection: Connection, id: Uuid): Promise<AccessToken> {
  const [row] = await connection.all<Row>(`${SELECT} WHERE t.id = $1`, id);
  if (row === undefined) throw new Error(`token ${id} vanished`);
  return toToken(row);
}

function isToken(row: ListedRow): row is ListedRow & Row {
  return row.id !== null;
}

function toToken(row: Row): AccessToken {
  return {
    id: row.id,
    orgId: row.org_id,
    orgName: row.org_name,
    kind: row.kind,
    label: row.label,
    digest: row.digest,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    revokedAtMs: row.revoked_at,
    lastUsedAtMs: row.last_used_at,
  };
}
