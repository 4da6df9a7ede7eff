// Deletes an organisation and all its data. The first transaction deletes the organisation's tokens and webhooks, and marks the
// organisation as being deleted: from then on, no lookup finds it and no import can write to it. The rest is deleted in batches,
// each of which holds its locks briefly. The audit log stays.

import { printCountOf } from '@offerbook/wire/count.ts';
import { newUuid } from '@offerbook/wire/uuid.ts';
import { isLive, type TokenEnds } from '../../domain/access-token.ts';
import type { ClickStore } from '../../domain/click.ts';
import type { DeletedCounts, OrganisationDeletion } from '../../domain/organisation.ts';
import { StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { deleteInBatches } from '../scan.ts';
import { ownerOf, type Table } from '../schema/table.ts';
import { MAIN_TABLES } from '../schema/tables.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';
import { DELETED_NUMBER, raiseCounter, raiseRevision } from './revision.ts';

const BATCH = 5_000;
/** Running servers reload within two seconds. */
const RELOAD_MS = 2_000;

const deleteBatch = new Map(
  tablesDeleted('in batches').map(({ name }): [string, Statement] => [
    name,
    (sql) => `${sql.deleteRows(name, 'rowid', `WHERE org_id = $1 LIMIT ${BATCH}`)} RETURNING org_id`,
  ]),
);
/** The names of tables in the report. */
const COUNTED: Readonly<Record<string, 'transactions' | 'versions'>> = {
  transactions: 'transactions',
  history: 'versions',
};

const CONTENTS_SQL = `SELECT ${['tokens', 'transactions', 'history', 'imports']
  .map((table) => `(SELECT count(*) FROM ${table} WHERE org_id = $1) AS ${table}`)
  .join(', ')}`;

interface Row {
  readonly id: number;
  readonly deleting_since: number | null;
}

const FIND_SQL = 'SELECT id, deleting_since FROM organisations WHERE name = $1';
const LOCK_SQL: Statement = ({ forUpdate }) => `${FIND_SQL} ${forUpdate}`;

export function organisationDeletion(
  database: Database,
  clicks: ClickStore,
  auditor: Auditor,
): OrganisationDeletion {
  async function countLive(connection: Queries, orgId: number): Promise<number> {
    const rows = await connection.all<TokenEnds>(
      `SELECT expires_at AS "expiresAtMs", overlap_ends_at AS "overlapEndsAtMs", revoked_at AS "revokedAtMs"
         FROM tokens WHERE org_id = $1`,
      orgId,
    );
    const nowMs = auditor.clock();
    return rows.filter((row) => isLive(row, nowMs)).length;
  }

  /**
   * Deletes the tokens and invalidates the organisation's links and name. If a deletion is repeated, each attempt has its own
   * audit entry.
   */
  function begin(name: string, revokesTokens: boolean): Promise<Begun | undefined> {
    return database.write(async (connection) => {
      const [org] = await connection.all<Row>(LOCK_SQL, name);
      if (org === undefined) return undefined;
      if (org.deleting_since === null && !revokesTokens) {
        const live = await countLive(connection, org.id);
        if (live > 0) throw stillInUse(name, live);
      }
      const counts = { ...NONE };
      for (const { name: table } of tablesDeleted('first')) {
        const rows = await connection.all(`DELETE FROM ${table} WHERE org_id = $1 RETURNING id`, org.id);
        if (table === 'tokens') counts.tokens = rows.length;
      }
      // A new public id invalidates links with the old one.
      await connection.all(
        'UPDATE organisations SET deleting_since = $2, public_id = $3::uuid WHERE id = $1',
        org.id,
        auditor.clock(),
        newUuid(),
      );
      const entry = await writeAudit(connection, auditor, 'organisation deleted', name, counts);
      await raiseRevision(connection, 'activation');
      await raiseRevision(connection, 'tokens');
      return { orgId: org.id, entry, counts };
    });
  }

  return {
    async contents(name) {
      const [org] = await database.all<Row>(FIND_SQL, name);
      if (org === undefined) return undefined;
      const [row] = await database.all<Record<string, number>>(CONTENTS_SQL, org.id);
      return {
        tokens: row?.tokens ?? 0,
        liveTokens: await countLive(database, org.id),
        transactions: row?.transactions ?? 0,
        versions: row?.history ?? 0,
        clicks: await clicks.countOf({ orgId: org.id }),
        imports: row?.imports ?? 0,
      };
    },

    async delete(name, { revokesTokens = false, onBatch = () => {}, reloadMs = RELOAD_MS } = {}) {
      const begun = await begin(name, revokesTokens);
      if (begun === undefined) return undefined;
      const { orgId, entry, counts } = begun;
      // Until servers reload, they still read the organisation's transactions and record its clicks.
      await Bun.sleep(reloadMs);
      for (const [table, statement] of deleteBatch) {
        const what = COUNTED[table];
        await deleteInBatches(
          database,
          BATCH,
          async (connection, deleted) => {
            const { length } = await connection.all(statement, orgId);
            if (what !== undefined)
              await amendAudit(connection, entry, { ...counts, [what]: deleted + length });
            return length;
          },
          (deleted) => {
            if (what !== undefined) counts[what] = deleted;
            onBatch(counts.transactions + counts.versions);
          },
        );
      }
      counts.clicks = await clicks.deleteOf(orgId, (count) =>
        onBatch(counts.transactions + counts.versions + count),
      );
      await database.write(async (connection) => {
        counts.imports = await forget(connection, orgId);
        await amendAudit(connection, entry, counts);
        // A command that looked up the organisation just before its deletion may have issued a token since.
        await raiseRevision(connection, 'tokens');
      });
      await database.emptyLog();
      return counts;
    },
  };
}

const NONE = { tokens: 0, transactions: 0, versions: 0, clicks: 0, imports: 0 };

interface Begun {
  readonly orgId: number;
  readonly entry: number;
  readonly counts: { -readonly [Name in keyof DeletedCounts]: number };
}

/**
 * Deletes the rest, and rows that a command has added since the beginning. Returns the number of imports. The organisation's
 * number is never reused: click ids contain it, and sales from those clicks may arrive for months.
 */
async function forget(connection: Connection, orgId: number): Promise<number> {
  let imports = 0;
  // Rows that refer to the organisation come before it.
  for (const table of [...tablesDeleted('first'), ...tablesDeleted(undefined).reverse()]) {
    const sql = `DELETE FROM ${table.name} WHERE ${ownerOf(table)} = $1 RETURNING 1`;
    const rows = await connection.all(sql, orgId);
    if (table.name === 'imports') imports = rows.length;
  }
  await raiseCounter(connection, DELETED_NUMBER, orgId);
  return imports;
}

function tablesDeleted(when: Table['deleted']): Table[] {
  return MAIN_TABLES.filter((table) => ownerOf(table) !== undefined && table.deleted === when);
}

function stillInUse(name: string, live: number): StorageError {
  return new StorageError(
    'conflict',
    `"${name}" has ${printCountOf(live, 'valid token')}; nothing was changed`,
  );
}
