// offerbook migrate: the tables of a database, made or brought up to date. Whichever program comes first does the same;
// this is for those who want it done before, by a job with more rights than the servers have.

import type { Command } from 'commander';
import { CREATE_OPTIONS } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { printResult } from '../output.ts';

export function migrateCommand(): Command {
  return jsonCommand(
    'migrate',
    'make the tables of the database, or bring them up to date; done before servers start, they need no right to',
    'offerbook migrate',
  ).action(migrateDatabase);
}

async function migrateDatabase(options: StoreOptions): Promise<void> {
  await withStores(
    options,
    () => printResult(options, { current: true }, 'The database is up to date.'),
    CREATE_OPTIONS,
  );
}
