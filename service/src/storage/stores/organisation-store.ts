// Organisations: the tenants that own tokens and transactions. Each organisation's row also contains its change clock.

import { newUuid } from '@offerbook/wire/uuid.ts';
import type { ClickStore } from '../../domain/click.ts';
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, writeAudit } from './audit-log.ts';
import { organisationDeletion } from './organisation-deletion.ts';
import { LAST_NUMBER_SQL, raiseRevision } from './revision.ts';

const COLUMNS = 'id, name, created_at AS "createdAtMs", public_id AS "publicId"';

const CREATE_SQL: Statement = ({ nextNumber }) => `
  INSERT INTO organisations (id, name, created_at, last_stamp, public_id)
  VALUES (${nextNumber(LAST_NUMBER_SQL)}, $1, $2, $2, $3::uuid) ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`;

export function organisationStore(
  database: Database,
  clicks: ClickStore,
  auditor: Auditor,
): OrganisationStore {
  return {
    ...organisationDeletion(database, clicks, auditor),
    create: (name) =>
      database.write(async (connection) => {
        const now = auditor.clock();
        const [created] = await connection.all<Organisation>(CREATE_SQL, name, now, newUuid());
        if (created !== undefined) {
          await raiseRevision(connection, 'activation');
          await writeAudit(connection, auditor, 'organisation created', name, {});
        }
        return created;
      }),
    async find(name) {
      const sql = `SELECT ${COLUMNS} FROM organisations WHERE name = $1 AND deleting_since IS NULL`;
      const [found] = await database.all<Organisation>(sql, name);
      return found;
    },
    list: () =>
      database.all<Organisation>(
        `SELECT ${COLUMNS} FROM organisations WHERE deleting_since IS NULL ORDER BY name`,
      ),
    async changeClocks() {
      const sql = 'SELECT id, last_stamp AS stamp FROM organisations';
      const rows = await database.all<{ id: number; stamp: number }>(sql);
      return new Map(rows.map(({ id, stamp }) => [id, stamp]));
    },
  };
}
