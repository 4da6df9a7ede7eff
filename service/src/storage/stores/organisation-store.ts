// Organisations: the tenants that tokens and transactions belong to. The row also holds the change clock.

import type { Organisation, OrganisationStore } from '../../domain/stores.ts';
import type { Database } from '../database.ts';
import { type Auditor, writeAudit } from './audit-book.ts';

interface Row {
  id: number;
  name: string;
  created_at: number;
}

export function organisationStore(database: Database, auditor: Auditor): OrganisationStore {
  return {
    create: (name) =>
      database.write(async (connection) => {
        const now = auditor.clock();
        const rows = await connection.all<Row>(
          `INSERT INTO organisations (name, created_at, last_stamp) VALUES ($1, $2, $2)
           ON CONFLICT (name) DO NOTHING RETURNING id, name, created_at`,
          name,
          now,
        );
        if (rows.length > 0) await writeAudit(connection, auditor, 'organisation created', name, {});
        return rows.map(toOrganisation)[0];
      }),
    async find(name) {
      const rows = await database.all<Row>(
        'SELECT id, name, created_at FROM organisations WHERE name = $1',
        name,
      );
      return rows.map(toOrganisation)[0];
    },
    async list() {
      return (await database.all<Row>('SELECT id, name, created_at FROM organisations ORDER BY name')).map(
        toOrganisation,
      );
    },
  };
}

function toOrganisation(row: Row): Organisation {
  return { id: row.id, name: row.name, createdAtMs: row.created_at };
}
