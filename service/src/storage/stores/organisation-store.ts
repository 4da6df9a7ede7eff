// Organisations: the tenants that tokens and transactions belong to. The row also holds the change clock.

import { newUuid } from '@offerbook/wire/uuid.ts';
import type { OrganisationStore, PublicOrganisation } from '../../domain/stores.ts';
import type { Database } from '../database.ts';
import { type Auditor, writeAudit } from './audit-book.ts';
import { LAST_NUMBER_SQL, raiseRevision } from './revision.ts';

/** Those of a PublicOrganisation. */
const COLUMNS = 'id, name, created_at AS "createdAtMs", public_id AS "publicId"';

/** SQLite would give the number of the last organisation again after it was deleted. PostgreSQL never does. */
const CREATE_SQL = {
  sqlite: `INSERT INTO organisations (id, name, created_at, last_stamp, public_id)
     VALUES (1 + coalesce((${LAST_NUMBER_SQL}), 0), $1, $2, $2, $3)`,
  postgres: 'INSERT INTO organisations (name, created_at, last_stamp, public_id) VALUES ($1, $2, $2, $3)',
};

export function organisationStore(
  database: Database,
  auditor: Auditor,
): Omit<OrganisationStore, 'contents' | 'delete'> {
  return {
    create: (name) =>
      database.write(async (connection) => {
        const now = auditor.clock();
        const [created] = await connection.all<PublicOrganisation>(
          `${CREATE_SQL[database.dialect]} ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
          name,
          now,
          newUuid(),
        );
        if (created !== undefined) {
          await raiseRevision(connection, 'activation');
          await writeAudit(connection, auditor, 'organisation created', name, {});
        }
        return created;
      }),
    async find(name) {
      // All columns: a database from before the first release has fewer, and is read by exports.
      const sql = 'SELECT * FROM organisations WHERE name = $1';
      type Row = { id: number; name: string; created_at: number; deleting_since?: number | null };
      const [row] = await database.all<Row>(sql, name);
      if (row === undefined || row.deleting_since != null) return undefined;
      return { id: row.id, name: row.name, createdAtMs: row.created_at };
    },
    list: () =>
      database.all<PublicOrganisation>(
        `SELECT ${COLUMNS} FROM organisations WHERE deleting_since IS NULL ORDER BY name`,
      ),
    async changeClocks() {
      const rows = await database.all<{ id: number; last_stamp: number }>(
        'SELECT id, last_stamp FROM organisations',
      );
      return new Map(rows.map(({ id, last_stamp }) => [id, last_stamp]));
    },
  };
}
