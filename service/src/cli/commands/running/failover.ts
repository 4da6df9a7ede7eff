// offerbook failover: commands for operators after PostgreSQL has failed over and may have lost changes.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { Command } from 'commander';
import { systemClock } from '../../../domain/clock.ts';
import { beginTimeline } from '../../../storage/backup/new-timeline.ts';
import type { Database } from '../../../storage/database.ts';
import { openDatabase } from '../../../storage/open-database.ts';
import { closing } from '../../../storage/open-once.ts';
import { COMMAND_OPTIONS, prepareSchema, READ_OPTIONS } from '../../../storage/open-stores.ts';
import { findLostChanges, readLostTransactions } from '../../../storage/postgres/lost-changes.ts';
import { jsonCommand, oldOption, type StoreOptions } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { print, printable, printResult, table } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function failoverCommand(): Command {
  const mark = jsonCommand(
    'mark',
    'give all transactions new stamps after a failover of PostgreSQL that may have lost changes',
    'offerbook failover mark',
  )
    .option('--nothing-lost', 'keep the stamps, because replication was synchronous')
    .action(markFailover);
  const report = jsonCommand(
    'report',
    'list the changes that only the old primary has',
    'offerbook failover report --old postgres://old.example/offerbook --org acme > lost.ndjson',
  )
    .addOption(oldOption())
    .option('--org <name>', "print this organisation's transactions as NDJSON, for import")
    .action(reportLost);
  return new Command('failover')
    .description('recover from a failover of PostgreSQL')
    .addCommand(mark)
    .addCommand(report);
}

async function markFailover(options: StoreOptions & { nothingLost?: boolean }): Promise<void> {
  const auditor = { clock: systemClock, by: currentUser() };
  await using database = closing(openPostgresDatabase(options.database, COMMAND_OPTIONS));
  await prepareSchema(options.database, database, COMMAND_OPTIONS, auditor);
  const keepsStamps = options.nothingLost === true;
  const { stamped } = await withProgressBar((show) =>
    beginTimeline(database, auditor, { keepsStamps, madeAt: null, isRestore: false, onRows: show }),
  );
  await database.failovers?.settle(systemClock());
  await printResult(options, { stamped }, `${printCountOf(stamped, 'transaction')} got a new stamp.`);
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
  const rows = found.map(({ org, transactions }) => [printable(org), printCount(transactions)]);
  const text = table(['ORG', 'TRANSACTIONS'], rows, 'No lost changes found.');
  await printResult(options, { organisations }, text);
}

function openPostgresDatabase(url: string, options: typeof COMMAND_OPTIONS): Database {
  const database = openDatabase(url, options);
  if (database.failovers !== undefined) return database;
  throw new BadInput('only PostgreSQL can fail over; the database URL must be postgres://…');
}
