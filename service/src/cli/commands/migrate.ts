// offerbook migrate: creates or upgrades the schema. Servers and imports also do this when they start, but then they need
// DDL rights.

import type { Command } from 'commander';
import { CREATE_OPTIONS } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { printResult } from '../output.ts';

export function migrateCommand(): Command {
  return jsonCommand(
    'migrate',
    'create or upgrade the schema; run it first and servers need no DDL rights',
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
