// offerbook failover: commands for operators after PostgreSQL has failed over and may have lost changes.

import { printCount } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import type { Database } from '../../../storage/database.ts';
import { openDatabase, sqlitePath } from '../../../storage/open-database.ts';
import { closing } from '../../../storage/open-once.ts';
import { COMMAND_OPTIONS, READ_OPTIONS } from '../../../storage/open-stores.ts';
import { findLostChanges, readLostTransactions } from '../../../storage/postgres/lost-changes.ts';
import { environmentOption, group, jsonCommand, type StoreOptions } from '../../command.ts';
import { print, printResult, table } from '../../output.ts';
import { giveNewStamps, printStamped } from './restore.ts';

export function failoverCommand(): Command {
  const mark = jsonCommand(
    'mark',
    'give all transactions new stamps after a failover of PostgreSQL that may have lost changes',
    'offerbook failover mark',
  )
    .option('--nothing-lost', 'keep the stamps, because replication was synchronous')
    .action(markFailover);
  const oldPrimary = environmentOption(
    '--old <url>',
    'the old primary, or a restored copy of it',
    'OFFERBOOK_OLD_URL',
  );
  const report = jsonCommand(
    'report',
    'list the changes that only the old primary has',
    'offerbook failover report --old postgres://old.example/offerbook --org acme > lost.ndjson',
  )
    .addOption(oldPrimary.makeOptionMandatory())
    .option('--org <name>', "print this organisation's transactions as NDJSON, for import")
    .action(reportLost);
  return group('failover', 'recover from a failover of PostgreSQL', [mark, report]);
}

async function markFailover(options: StoreOptions & { nothingLost?: boolean }): Promise<void> {
  const database = openPostgresDatabase(options.database, COMMAND_OPTIONS);
  const how = { keepsStamps: options.nothingLost === true, isRestore: false };
  const { stamped } = await giveNewStamps(database, options, how);
  await printResult(options, { stamped }, printStamped(stamped));
}

async function reportLost(options: StoreOptions & { old: string; org?: string }): Promise<void> {
  await using current = closing(openPostgresDatabase(options.database, READ_OPTIONS));
  await using old = closing(openPostgresDatabase(options.old, READ_OPTIONS));
  const found = await findLostChanges(current, old);
  if (options.org !== undefined) {
    const lost = found.find(({ org }) => org === options.org);
    if (lost !== undefined)
      await readLostTransactions(old, lost, async (documents) => {
        if (documents.length > 0) await print(`${documents.join('\n')}\n`);
      });
    return;
  }
  const organisations = found.map(({ org, transactions }) => ({ org, transactions }));
  const rows = found.map(({ org, transactions }) => ({ ORG: org, TRANSACTIONS: printCount(transactions) }));
  await printResult(options, { organisations }, table(rows, 'No lost changes found.'));
}

function openPostgresDatabase(url: string, options: typeof COMMAND_OPTIONS): Database {
  if (sqlitePath(url) === undefined) return openDatabase(url, options);
  throw new BadInput('only PostgreSQL can fail over; the database URL must be postgres://…');
}
