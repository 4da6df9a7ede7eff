// offerbook export: prints the catalogue or transactions in the format that `offerbook import` reads.

import { Command } from 'commander';
import { ENVELOPE_START, envelopeEnd } from '../../../domain/page.ts';
import type { StoredDocument } from '../../../domain/stored-document.ts';
import { jsonCommand, readStores, type StoreOptions } from '../../command.ts';
import { print } from '../../output.ts';
import { getOrganisation } from '../access/organisations.ts';

export function exportCommand(): Command {
  const catalogue = jsonCommand(
    'catalogue',
    'print all retailers as NDJSON',
    'offerbook export catalogue > retailers.ndjson',
  ).action((options: StoreOptions) =>
    readStores(options, (stores) => writeDocuments(options, (onBatch) => stores.catalogue.read(onBatch))),
  );
  const transactions = jsonCommand(
    'transactions',
    "print an organisation's transactions as NDJSON",
    'offerbook export transactions --org acme > transactions.ndjson',
  )
    .requiredOption('--org <name>', 'organisation of the transactions')
    .action((options: StoreOptions & { org: string }) =>
      readStores(options, async (stores) => {
        const org = await getOrganisation(stores, options.org, 'to read');
        await writeDocuments(options, (onBatch) => stores.transactions.read(org.id, onBatch));
      }),
    );
  return new Command('export')
    .description('print the catalogue or transactions')
    .addCommand(catalogue)
    .addCommand(transactions);
}

/** Prints NDJSON, or one list envelope with --json. Each batch is written before the next is read. */
async function writeDocuments(
  options: StoreOptions,
  read: (onBatch: (batch: StoredDocument[]) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const [open, between, close] =
    options.json === true ? [ENVELOPE_START, ',\n', `${envelopeEnd(undefined)}\n`] : ['', '\n', '\n'];
  let separator = open;
  await read(async (batch) => {
    await print(separator + batch.map(({ document }) => document).join(between));
    separator = between;
  });
  // In NDJSON, an empty export is an empty file, not a blank line.
  if (separator === between) await print(close);
  else if (options.json === true) await print(open + close);
}
