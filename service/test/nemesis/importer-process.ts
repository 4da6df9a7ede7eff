// An importing process: takes orders on stdin, one JSON text for each line, and reports on stdout. May be
// killed at any moment; what it had not reported by then is nobody's promise.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { isStorageError } from '../../src/domain/storage-error.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { carryOut, type ImportOrder, type ImportResult } from './import-order.ts';
import { readJsonLines } from './json-lines.ts';

export type ImporterReport =
  | { readonly event: 'stamped'; readonly number: number; readonly stampMs: number }
  | { readonly event: 'imported'; readonly results: readonly ImportResult[] }
  | { readonly event: 'refused'; readonly reason: string }
  /** The database became unreachable: it may have kept the import or not. */
  | { readonly event: 'unknown'; readonly reason: string }
  | { readonly event: 'violation'; readonly what: string };

function report(message: ImporterReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

if (import.meta.main) {
  const stores = await openStores(process.argv[2] ?? '');
  for await (const order of readJsonLines<ImportOrder>(Bun.stdin.stream())) {
    try {
      const results = await carryOut(stores, order, {
        stamped: (number, stampMs) => report({ event: 'stamped', number, stampMs }),
        violation: (what) => report({ event: 'violation', what }),
      });
      report({ event: 'imported', results });
    } catch (error) {
      if (
        error instanceof BadInput ||
        error instanceof Refused ||
        isStorageError(error, 'busy', 'conflict')
      ) {
        report({ event: 'refused', reason: error.message });
      } else if (isStorageError(error)) report({ event: 'unknown', reason: error.message });
      else throw error;
    }
  }
  await stores.close();
}
