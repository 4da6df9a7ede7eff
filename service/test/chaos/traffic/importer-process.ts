// An importing process: receives orders from its parent and reports to it. It may be killed at any moment; an import that it has
// not reported by then may or may not be committed.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import { openStores } from '../../../src/storage/open-stores.ts';
import { carryOut, type ImportOrder, type ImportResult } from './import-order.ts';

export type Outcome =
  | { readonly end: 'imported'; readonly results: readonly ImportResult[] }
  /** Unknown: the database became unreachable, so the import may or may not be committed. */
  | { readonly end: 'refused' | 'unknown'; readonly reason: string };

export type ImporterReport =
  | Outcome
  | { readonly stamped: number; readonly stampMs: number }
  | { readonly violation: string };

if (import.meta.main) {
  const stores = await openStores(process.argv[2] ?? '');
  const report = (message: ImporterReport) => void process.send?.(message);
  const observer = {
    stamped: (number: number, stampMs: number) => report({ stamped: number, stampMs }),
    violation: (what: string) => report({ violation: what }),
  };
  process.on('message', async (order: ImportOrder) => {
    try {
      report({ end: 'imported', results: await carryOut(stores, order, observer) });
    } catch (error) {
      const isRefusal =
        error instanceof BadInput || error instanceof Refused || isStorageError(error, 'busy', 'conflict');
      if (!isRefusal && !isStorageError(error)) throw error;
      report({ end: isRefusal ? 'refused' : 'unknown', reason: error.message });
    }
  });
  process.on('disconnect', () => void stores.close());
}
