// Organisations: the tenants that tokens and transactions belong to. The row also holds the change clock.

import type { Organisation, OrganisationStore, PublicOrganisation } from '../../domain/stores.ts';
import { newUuid, type Uuid } from '../../domain/uuid.ts';
import type { Database } from '../database.ts';
import { type Auditor, writeAudit } from './audit-book.ts';
import { DELETED_NUMBER, raiseRevision } from './revision.ts';

interface Row {
  id: number;
  name: string;
  created_at: number;
  deleting_since?: number | null;
}

type PublicRow = Row & { public_id: Uuid };

/** SQLite would give the number of the last organisation again after it was deleted. PostgreSQL never does. */
const CREATE_SQL = {
  sqlite: `INSERT INTO organisations (id, name, created_at, last_stamp, public_id)
     VALUES (1 + max(
       coalesce((SELECT max(id) FROM organisations), 0),
       coalesce((SELECT value FROM revisions WHERE name = '${DELETED_NUMBER}'), 0)
     ), $1, $2, $2, $3)`,
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
        const rows = await connection.all<PublicRow>(
          `${CREATE_SQL[database.dialect]}
           ON CONFLICT (name) DO NOTHING RETURNING id, name, created_at, public_id`,
          name,
          now,
          newUuid(),
        );
        if (rows.length > 0) {
          await raiseRevision(connection, 'activation');
          await writeAudit(connection, auditor, 'organisation created', name, {});
        }
        return rows.map(toPublicOrganisation)[0];
      }),
    async find(name) {
      const rows = await database.all<Row>(
        // All columns: a database from before the first release has fewer, and is read by exports.
        'SELECT * FROM organisations WHERE name = $1',
        name,
      );
      return rows.filter((row) => row.deleting_since == null).map(toOrganisation)[0];
    },
    async list() {
      const rows = await database.all<PublicRow>(
        'SELECT id, name, created_at, public_id FROM organisations WHERE deleting_since IS NULL ORDER BY name',
      );
      return rows.map(toPublicOrganisation);
    },
    async changeClocks() {
      const rows = await database.all<{ id: number; last_stamp: number }>(
        'SELECT id, last_stamp FROM organisations',
      );
      return new Map(rows.map(({ id, last_stamp }) => [id, last_stamp]));
    },
  };
}

function toOrganisation(row: Row): Organisation {
  return { id: row.id, name: row.name, createdAtMs: row.created_at };
}

function toPublicOrganisation(row: PublicRow): PublicOrganisation {
  return { ...toOrganisation(row), publicId: row.public_id };
}
