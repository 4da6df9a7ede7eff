// Imports transactions: upserts by id. Unchanged transactions keep their stamps, so polling clients see no changes if a file is
// imported twice.

import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { Clock } from '../domain/clock.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { TransactionStore, TransactionWriters } from '../domain/transaction.ts';
import type { ImportReport } from './import-report.ts';
import { ImportRun, readAhead } from './import-run.ts';
import { type LookedUp, type TransactionImportOptions, transactionLoad } from './transaction-load.ts';

/**
 * Number of batches to look up in advance, which keeps the database busy while rows are read and validated. Writes in between
 * cannot change the result of a lookup, because an id occurs only once in a file.
 */
const LOOK_UPS_AHEAD = 4;

/** If `org` is undefined, every row needs a clickId, and the file may contain sales of several organisations. */
export function importTransactions(
  store: TransactionStore,
  org: Organisation | undefined,
  source: ImportSource,
  clock: Clock,
  options: TransactionImportOptions,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  if (options.preserveUpdatedAt === true) {
    run.notes.push(
      'The rows kept their updatedAt from the file: clients that poll for changes will not see rows older than their position.',
    );
  }
  const write = (work: (writers: TransactionWriters) => Promise<void>) =>
    org === undefined ? store.writeAll(work, options.importId) : store.write(org.id, work, options.importId);
  return run.carryOut<TransactionWriters>(write, async (writers) => {
    const load = transactionLoad(run, writers, org, clock(), options);
    const ahead: Promise<LookedUp>[] = [];
    for await (const batch of readAhead(run.batches(load.format))) {
      const lookedUp = load.lookUp(batch);
      // Prevents an unhandled rejection; a later await throws the error.
      lookedUp.catch(() => undefined);
      ahead.push(lookedUp);
      if (ahead.length > LOOK_UPS_AHEAD) {
        const next = await ahead.shift();
        if (next !== undefined) await load.take(next);
      }
    }
    for (const lookedUp of ahead) await load.take(await lookedUp);
    run.requireValid();
    load.finish();
    await options.pulled?.finish(writers, run.report);
    if (options.dryRun !== true) await options.attributor?.unattributed?.keep();
  });
}
