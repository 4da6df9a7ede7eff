// offerbook migrate: creates or upgrades the database. Servers and imports create missing tables too, but they do not upgrade the
// database of an old release.

import type { Command } from 'commander';
import type { Migration } from '../../../storage/schema/migrate.ts';
import { upgradeDatabase } from '../../../storage/upgrade-database.ts';
import { auditor, jsonCommand, type StoreOptions } from '../../command.ts';
import { printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function migrateCommand(): Command {
  return jsonCommand(
    'migrate',
    'create or upgrade the database; stop all servers before an upgrade',
    'offerbook migrate',
  ).action(migrateDatabase);
}

async function migrateDatabase(options: StoreOptions): Promise<void> {
  const startedMs = performance.now();
  const migration = await withProgressBar((show) => upgradeDatabase(options.database, auditor(), show));
  const seconds = Math.round(performance.now() - startedMs) / 1000;
  await printResult(options, migration, printMigration(migration, seconds));
}

function printMigration({ from, to }: Migration, seconds: number): string {
  if (from === null) return `Created the database, with schema version ${to}.`;
  if (from === to) return `The database is up to date: schema version ${to}.`;
  return `Upgraded the database from schema version ${from} to ${to} (${seconds.toFixed(1)} s).`;
}
