// The catalogue: one document per retailer, which includes its deals. Imports write whole retailers, and servers read the whole
// catalogue. The domains of retailers' sites are stored with their links.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import type { Clock } from '../../domain/clock.ts';
import type { StoredDocument } from '../../domain/stored-document.ts';
import type { Database } from '../database.ts';
import { type Scan, scan } from '../scan.ts';
import { RETAILERS } from '../schema/tables.ts';
import { takeOverLog } from './import-log.ts';
import { parseDomains } from './link-store.ts';
import { pullWriter } from './pull-store.ts';
import { lockRevision, raiseRevision, readRevisions } from './revision.ts';

const ALL_RETAILERS: Scan = { table: RETAILERS, columns: 'id, document', batchSize: 200 };
const RETAILERS_WITH_DOMAINS: Scan = {
  ...ALL_RETAILERS,
  columns: 'retailers.id, document, domains',
  join: 'LEFT JOIN links ON links.id = retailers.id',
};

interface RetailerWithDomains extends StoredDocument {
  readonly domains: string | null;
}

export function catalogueStore(database: Database, clock: Clock): CatalogueStore {
  return {
    read: (onBatch) =>
      database.readOnce(async (connection) => {
        const { catalogue: revision } = await readRevisions(connection);
        await scan<RetailerWithDomains>(connection, RETAILERS_WITH_DOMAINS, (batch) =>
          onBatch(batch.map((row) => ({ ...row, domains: parseDomains(row.domains) }))),
        );
        return revision;
      }),
    write: (work, importId) =>
      database.write(async (connection) => {
        await lockRevision(connection, 'catalogue');
        const finishImport = await takeOverLog(connection, clock, importId);
        return work({
          finishImport,
          async find(ids) {
            const rows = await connection.findMany(RETAILERS, ids);
            return new Map(rows.map((row) => [row.id, row.document]));
          },
          async put(documents, source = null) {
            await connection.putMany(
              RETAILERS,
              documents.map(({ id, document }) => ({ id, document, source })),
            );
          },
          remove: (ids) => connection.deleteMany(RETAILERS, ids),
          async sources() {
            type Row = { id: Uuid; source: string | null };
            const rows = await connection.all<Row>('SELECT id, source FROM retailers ORDER BY id');
            return new Map(rows.map(({ id, source }) => [id, source]));
          },
          read: (onBatch) => scan(connection, ALL_RETAILERS, onBatch),
          markChanged: () => raiseRevision(connection, 'catalogue'),
          pulls: pullWriter(connection, clock),
        });
      }),
  };
}
