// Adds the retailers to transactions, for `expand=retailer`. A transaction's retailer is stored beside its document; the
// retailer's fields come from the current catalogue.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import { splitDocuments, withRetailer } from '../../domain/stored-document.ts';
import type { TransactionPage, TransactionStore } from '../../domain/transaction.ts';

type Data = TransactionPage['data'];

/** Adds the retailers to a page or to a single transaction. A page ends early if the retailers would make it too large. */
export async function expandRetailers<
  Page extends { readonly data: Data; readonly cursor?: Uuid | undefined },
>(page: Page, orgId: number, transactions: TransactionStore, catalogue: Catalogue): Promise<Page> {
  const documents = splitDocuments(page.data);
  if (documents.length === 0) return page;
  const retailerIds = await transactions.findRetailers(
    documents.map(({ id }) => id),
    orgId,
  );
  const printed = new Map<Uuid | undefined, string>();
  for (const retailerId of new Set(retailerIds.values()))
    printed.set(retailerId, JSON.stringify(catalogue.current.findRetailer(retailerId) ?? null));
  const expanded: string[] = [];
  // Starts at -1, because there is no comma before the first document.
  let bytes = -1;
  for (const { id, document } of documents) {
    const text = withRetailer(document, printed.get(retailerIds.get(id)) ?? 'null');
    bytes += 1 + Buffer.byteLength(text);
    if (bytes > PAGE_BYTES_MAX && expanded.length > 0) return { ...page, data: join(expanded), cursor: id };
    expanded.push(text);
  }
  return { ...page, data: join(expanded) };
}

function join(documents: readonly string[]): Data {
  return Buffer.from(documents.join(','));
}
