// offerbook export: writes the catalogue or transactions to stdout in the format that import reads.

import { Command } from 'commander';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import type { StoredDocument } from '../../domain/stored-document.ts';
import { READ_OPTIONS } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { print } from '../output.ts';
import { getOrganisation } from './organisations.ts';

export function exportCommand(): Command {
  const catalogue = jsonCommand(
    'catalogue',
    'print all retailers as NDJSON',
    'offerbook export catalogue > retailers.ndjson',
  ).action((options: StoreOptions) =>
    withStores(
      options,
      (stores) => writeDocuments(options, (onBatch) => stores.catalogue.read(onBatch)),
      READ_OPTIONS,
    ),
  );
  const transactions = jsonCommand(
    'transactions',
    "print an organisation's transactions as NDJSON",
    'offerbook export transactions --org acme > transactions.ndjson',
  )
    .requiredOption('--org <name>', 'organisation')
    .action((options: StoreOptions & { org: string }) =>
      withStores(
        options,
        async (stores) => {
          const org = await getOrganisation(stores, options.org, 'to read');
          await writeDocuments(options, (onBatch) => stores.transactions.read(org.id, onBatch));
        },
        READ_OPTIONS,
      ),
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
  // An empty export in NDJSON is an empty file, not a blank line.
  if (separator === between) await print(close);
  else if (options.json === true) await print(open + close);
}
