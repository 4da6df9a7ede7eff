// offerbook migrate: creates or upgrades the schema. Servers and imports also do this when they start, but then they need
// DDL rights.

import type { Command } from 'commander';
import { systemClock } from '../../../domain/clock.ts';
import { openDatabase } from '../../../storage/open-database.ts';
import { closing } from '../../../storage/open-once.ts';
import { CREATE_OPTIONS, prepareSchema } from '../../../storage/open-stores.ts';
import type { Migration } from '../../../storage/schema/migrate.ts';
import { jsonCommand, type StoreOptions } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { printResult } from '../../output.ts';

export function migrateCommand(): Command {
  return jsonCommand(
    'migrate',
    'create or upgrade the schema; run it first and servers need no DDL rights',
    'offerbook migrate',
  ).action(migrateDatabase);
}

async function migrateDatabase(options: StoreOptions): Promise<void> {
  const auditor = { clock: systemClock, by: currentUser() };
  await using database = closing(openDatabase(options.database, CREATE_OPTIONS));
  const migration = await prepareSchema(options.database, database, CREATE_OPTIONS, auditor);
  await printResult(options, migration, printMigration(migration));
}

function printMigration({ from, to }: Migration): string {
  if (from === null) return `Created the database, with schema version ${to}.`;
  if (from === to) return `The database is up to date: schema version ${to}.`;
  return `Upgraded the database from schema version ${from} to ${to}.`;
}
