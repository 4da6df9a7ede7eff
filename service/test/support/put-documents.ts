// Writes documents past the import, for tests that need only some of a transaction's fields. The daily totals count each of
// them as the same sale.

import type { StoredDocument } from '../../src/domain/stored-document.ts';
import type { OrganisationWriter, TransactionStore, UserSale } from '../../src/domain/transaction.ts';
import { transaction } from './fixtures.ts';

const SALE = transaction(0);

interface TestDocument extends StoredDocument {
  /** Default: the stamp of the write. */
  readonly updatedAtMs?: number;
}

/** Writes documents in a transaction of its own, and returns its stamp. */
export function writeDocuments(
  transactions: Pick<TransactionStore, 'write'>,
  orgId: number,
  rows: readonly TestDocument[],
  importId?: number,
): Promise<number> {
  const work = async (writer: OrganisationWriter) => {
    await putDocuments(writer, rows);
    return writer.stampMs;
  };
  return transactions.write(orgId, work, importId);
}

export async function putDocuments(writer: OrganisationWriter, rows: readonly TestDocument[]): Promise<void> {
  const stored = await writer.find(rows.map(({ id }) => id));
  await writer.put(
    rows.map((row) => {
      const before = stored.get(row.id);
      return { updatedAtMs: writer.stampMs, ...row, sale: saleOf(row), replaces: before && saleOf(before) };
    }),
  );
}

/** The user of a document is indexed, if it has one. */
function saleOf({ document }: StoredDocument): UserSale {
  const { passbackUid = null } = JSON.parse(document) as { passbackUid?: string };
  return { ...SALE, passbackUid };
}
