// Deletes an organisation and all its data. The first transaction deletes the organisation's tokens and webhooks, and marks the
// organisation as being deleted: from then on, no lookup finds it and no import can write to it. The rest is deleted in batches,
// each of which holds its locks briefly. The audit log stays.

import { printCountOf } from '@offerbook/wire/count.ts';
import { newUuid } from '@offerbook/wire/uuid.ts';
import { isLive, type TokenEnds } from '../../domain/access-token.ts';
import type { ClickStore } from '../../domain/click.ts';
import type { DeletedCounts, OrganisationStore } from '../../domain/organisation.ts';
import { StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { deleteInBatches } from '../scan.ts';
import { ownerOf, type Table } from '../schema/table.ts';
import { MAIN_TABLES } from '../schema/tables.ts';
import type { Dialect, Statement } from '../sql.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';
import { DELETED_NUMBER, raiseCounter, raiseRevision } from './revision.ts';

const BATCH = 5_000;
/** Running servers reload within two seconds. */
const RELOAD_MS = 2_000;

/** The names of tables in the report. */
const COUNTED: Readonly<Record<string, 'transactions' | 'versions'>> = {
  transactions: 'transactions',
  history: 'versions',
};

const BATCHES = tablesDeleted('in batches').map(({ name }) => ({
  counted: COUNTED[name],
  statement: (sql: Dialect) =>
    `${sql.deleteRows(name, 'rowid', `WHERE org_id = $1 LIMIT ${BATCH}`)} RETURNING org_id`,
}));

const CONTENTS_SQL = `SELECT (SELECT count(*) FROM tokens WHERE org_id = $1) AS tokens,
  (SELECT count(*) FROM transactions WHERE org_id = $1) AS transactions,
  (SELECT count(*) FROM history WHERE org_id = $1) AS versions,
  (SELECT count(*) FROM imports WHERE org_id = $1) AS imports`;

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
): Pick<OrganisationStore, 'contents' | 'delete'> {
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
  function begin(name: string, revokesTokens: boolean) {
    return database.write(async (connection) => {
      const [org] = await connection.all<Row>(LOCK_SQL, name);
      if (org === undefined) return undefined;
      if (org.deleting_since === null && !revokesTokens) {
        const live = await countLive(connection, org.id);
        const problem = `"${name}" has ${printCountOf(live, 'valid token')}; nothing was changed`;
        if (live > 0) throw new StorageError('conflict', problem);
      }
      const counts: Counts = { ...NONE };
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
      const [stored] = await database.all<Omit<DeletedCounts, 'clicks'>>(CONTENTS_SQL, org.id);
      const liveTokens = await countLive(database, org.id);
      return { ...NONE, ...stored, liveTokens, clicks: await clicks.countOf({ orgId: org.id }) };
    },

    async delete(name, { revokesTokens = false, onBatch = () => {}, reloadMs = RELOAD_MS } = {}) {
      const begun = await begin(name, revokesTokens);
      if (begun === undefined) return undefined;
      const { orgId, entry, counts } = begun;
      // Until servers reload, they still read the organisation's transactions and record its clicks.
      await Bun.sleep(reloadMs);
      const progress = (clicks: number) => onBatch(counts.transactions + counts.versions + clicks);
      for (const { statement, counted } of BATCHES) {
        const deleteBatch = async (connection: Connection, before: number) => {
          const { length } = await connection.all(statement, orgId);
          if (counted !== undefined) counts[counted] = before + length;
          await amendAudit(connection, entry, counts);
          return length;
        };
        await deleteInBatches(database, BATCH, deleteBatch, () => progress(0));
      }
      counts.clicks = await clicks.deleteOf(orgId, progress);
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

type Counts = Record<keyof DeletedCounts, number>;
const NONE: Readonly<Counts> = { tokens: 0, transactions: 0, versions: 0, clicks: 0, imports: 0 };

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
