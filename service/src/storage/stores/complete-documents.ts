// Gives stored documents the fields that came after they were stored. Where no field was added, which is so until one
// is, the stores stay as they are.

import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { ADDED_FIELDS, type AddedFields, type AllAddedFields } from '../../domain/added-fields.ts';
import type { CatalogueStore, StoredDocument, TransactionStore } from '../../domain/stores.ts';
import { NEXT_DOCUMENT } from '../transactions/transaction-page.ts';

export function completeTransactions(
  store: TransactionStore,
  { transaction: added }: AllAddedFields = ADDED_FIELDS,
): TransactionStore {
  const complete = completer(added);
  if (complete === undefined) return store;
  return {
    ...store,
    async page(query) {
      const page = await store.page(query);
      // As bytes that look like text: names are ASCII, and so is everything that is looked for.
      const documents = Buffer.from(page.data).toString('latin1').split(NEXT_DOCUMENT);
      const text = page.data.length === 0 ? '' : documents.map(complete).join(NEXT_DOCUMENT);
      return { ...page, data: new Uint8Array(Buffer.from(text, 'latin1')) };
    },
    read: (orgId, onBatch) => store.read(orgId, (batch) => onBatch(withDocuments(batch, complete))),
  };
}

export function completeCatalogue(
  store: CatalogueStore,
  { retailer, deals }: AllAddedFields = ADDED_FIELDS,
): CatalogueStore {
  if ([retailer, ...Object.values(deals)].every((added) => Object.keys(added).length === 0)) return store;
  const withAdded = (stored: Record<string, unknown>, added: AddedFields) =>
    // Spread twice: the stored fields come first, and their values count.
    ({ ...stored, ...added, ...stored });
  const complete = (document: string) => {
    const stored = withAdded(JSON.parse(document), retailer);
    for (const list of DEAL_LISTS) {
      const own = (stored[list] ?? []) as Record<string, unknown>[];
      stored[list] = own.map((deal) => withAdded(deal, deals[list]));
    }
    return printJson(stored);
  };
  return { ...store, read: (onBatch) => store.read((batch) => onBatch(withDocuments(batch, complete))) };
}

/** Appends what a document lacks. Undefined when there is nothing to append. */
function completer(added: AddedFields): ((document: string) => string) | undefined {
  const fields = Object.entries(added).map(([name, value]) => ({
    start: `,"${name}":`,
    text: `,"${name}":${printJson(value)}`,
  }));
  if (fields.length === 0) return undefined;
  return (document) => {
    const missing = fields.filter(({ start }) => !document.includes(start));
    return missing.length === 0
      ? document
      : `${document.slice(0, -1)}${missing.map(({ text }) => text).join('')}}`;
  };
}

function withDocuments(
  batch: readonly StoredDocument[],
  complete: (document: string) => string,
): StoredDocument[] {
  return batch.map(({ id, document }) => ({ id, document: complete(document) }));
}
