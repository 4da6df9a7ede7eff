// A page reader without protection 2: pages are ordered by (updatedAt, id) and continue at the cursor's row. When that row
// changes, the position moves with it.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ENVELOPE_START, envelopeEnd } from '../../../src/domain/page.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../../src/storage/open-stores.ts';
import type { Send } from '../../chaos/traffic/pollers/page-reader.ts';

export function movingOrder(databaseUrl: string, orgId: number): Send {
  return async (path) => {
    const parameters = new URL(path, 'http://nemesis.invalid').searchParams;
    const limit = Number(parameters.get('limit'));
    const watermark = parameters.get('updatedAtGreaterThan');
    const cursor = parameters.get('cursor');
    const database = openDatabase(databaseUrl, COMMAND_OPTIONS);
    const [clock] = await database.all<{ last_stamp: number }>(
      'SELECT last_stamp FROM organisations WHERE id = $1',
      orgId,
    );
    const rows = await database.all<{ id: Uuid; updated_at: number; document: string }>(
      'SELECT id, updated_at, document FROM transactions WHERE org_id = $1 ORDER BY updated_at, id',
      orgId,
    );
    await database.close();
    const place = cursor === null ? 0 : rows.findIndex(({ id }) => id === cursor);
    const after = watermark === null ? Number.NEGATIVE_INFINITY : Date.parse(`${watermark}Z`);
    const found = rows.slice(place).filter((row) => row.updated_at > after);
    const documents = found.slice(0, limit).map(({ document }) => document);
    return new Response(ENVELOPE_START + documents.join() + envelopeEnd(found[limit]?.id), {
      headers: { 'Complete-Through': printTimestamp(clock?.last_stamp ?? 0) },
    });
  };
}
