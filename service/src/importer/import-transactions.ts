// Imports transactions: upserts by id. Unchanged transactions keep their stamps, so polling clients see no changes if a file is
// imported twice.

import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { ClickIds } from '../activation/click-id.ts';
import type { Clock } from '../domain/clock.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { Stores } from '../domain/stores.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import type { ImportReport } from './import-report.ts';
import { ImportRun, mapAhead } from './import-run.ts';
import { type TransactionImportOptions, transactionLoad } from './transaction-load.ts';

/**
 * Number of batches to read and look up in advance, so that the database and the validation work at the same time. Writes in
 * between cannot change the result of a lookup, because an id occurs only once in a file.
 */
const BATCHES_AHEAD = 5;

/** If `org` is undefined, every row needs a clickId, and the file may contain sales of several organisations. */
export async function importTransactions(
  { transactions, clicks, clickKey }: Pick<Stores, 'transactions' | 'clicks' | 'clickKey'>,
  org: Organisation | undefined,
  source: ImportSource,
  clock: Clock,
  options: TransactionImportOptions,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  const { importId, unattributed } = options;
  if (options.preserveUpdatedAt === true) {
    run.notes.push(
      'The rows kept their updatedAt from the file: clients that poll for changes will not see rows older than their position.',
    );
  }
  const attributor = { ids: new ClickIds(await clickKey()), clicks, org, unattributed };
  const write = (work: (writers: TransactionWriters) => Promise<void>) =>
    org === undefined ? transactions.writeAll(work, importId) : transactions.write(org.id, work, importId);
  return run.carryOut<TransactionWriters>(write, async (writers) => {
    const load = transactionLoad(run, writers, attributor, clock(), options);
    const batches = mapAhead(run.batches(load.format), BATCHES_AHEAD, load.lookUp);
    for await (const batch of batches) await load.add(batch);
    run.requireValid();
    load.finish();
    await options.pulled?.finish(writers, run.report);
    if (options.dryRun !== true) await unattributed?.keep();
  });
}
