// An importing process: reads orders from stdin, one JSON value per line, and reports on stdout. It may be killed at any
// moment; an import that it has not reported by then may or may not be committed.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import { openStores } from '../../../src/storage/open-stores.ts';
import { carryOut, type ImportOrder, type ImportResult } from './import-order.ts';
import { readJsonLines } from './json-lines.ts';

export type ImporterReport =
  | { readonly event: 'stamped'; readonly number: number; readonly stampMs: number }
  | { readonly event: 'imported'; readonly results: readonly ImportResult[] }
  | { readonly event: 'refused'; readonly reason: string }
  /** The database became unreachable, so the import may or may not be committed. */
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
