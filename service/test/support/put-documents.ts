// Writes documents past the import, for tests that need only some of a transaction's fields. The daily totals count each of
// them as the same sale.

import type { StoredDocument } from '../../src/domain/stored-document.ts';
import type { OrganisationWriter, UserSale } from '../../src/domain/transaction.ts';
import { transaction } from './fixtures.ts';

const SALE = transaction(0);

export async function putDocuments(
  writer: OrganisationWriter,
  rows: readonly (StoredDocument & { readonly updatedAtMs: number })[],
): Promise<void> {
  const stored = await writer.find(rows.map(({ id }) => id));
  await writer.put(
    rows.map((row) => {
      const before = stored.get(row.id);
      return { ...row, sale: saleOf(row), replaces: before && saleOf(before) };
    }),
  );
}

/** The user of a document is indexed, if it has one. */
function saleOf({ document }: StoredDocument): UserSale {
  const { passbackUid = null } = JSON.parse(document) as { passbackUid?: string };
  return { ...SALE, passbackUid };
}
