// offerbook export: prints the catalogue or transactions in the format that `offerbook import` reads.

import type { Command } from 'commander';
import { ENVELOPE_START, envelopeEnd } from '../../../domain/page.ts';
import type { StoredDocument } from '../../../domain/stored-document.ts';
import { group, jsonCommand, openForReading, type StoreOptions } from '../../command.ts';
import { print } from '../../output.ts';
import { getOrganisation } from '../access/organisations.ts';

export function exportCommand(): Command {
  const catalogue = jsonCommand(
    'catalogue',
    'print all retailers as NDJSON',
    'offerbook export catalogue > retailers.ndjson',
  ).action(async (options: StoreOptions) => {
    await using stores = await openForReading(options);
    await writeDocuments(options, (onBatch) => stores.catalogue.read(onBatch));
  });
  const transactions = jsonCommand(
    'transactions',
    "print an organisation's transactions as NDJSON",
    'offerbook export transactions --org acme > transactions.ndjson',
  )
    .requiredOption('--org <name>', 'organisation of the transactions')
    .action(async (options: StoreOptions & { org: string }) => {
      await using stores = await openForReading(options);
      const org = await getOrganisation(stores, options.org, 'to read');
      await writeDocuments(options, (onBatch) => stores.transactions.read(org.id, onBatch));
    });
  return group('export', 'print the catalogue or transactions', [catalogue, transactions]);
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
