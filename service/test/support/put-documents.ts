// Writes documents past the import, for tests that need only some of a transaction's fields. The daily totals count each of
// them as the same sale.

import type { StoredDocument } from '../../src/domain/stored-document.ts';
import type { OrganisationWriter } from '../../src/domain/transaction.ts';
import { transaction } from './fixtures.ts';

const SALE = transaction(0);

export async function putDocuments(
  writer: OrganisationWriter,
  rows: readonly (StoredDocument & { readonly updatedAtMs: number })[],
): Promise<void> {
  const stored = await writer.find(rows.map(({ id }) => id));
  await writer.put(
    rows.map((row) => ({ ...row, sale: SALE, replaces: stored.has(row.id) ? SALE : undefined })),
  );
}
