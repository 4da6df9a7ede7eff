// offerbook restore: brings a backup back, and sees to it that those who poll lose nothing by it.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { readDatabaseUrl } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import { beginTimeline } from '../../storage/backup/new-timeline.ts';
import type { LaterEvent } from '../../storage/backup/replaced-database.ts';
import { restoreBackup } from '../../storage/backup/restore-backup.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { closing } from '../../storage/open-once.ts';
import { COMMAND_OPTIONS, prepareSchema } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions } from '../command.ts';
import { currentUser } from '../current-user.ts';
import { printable, printNote, printResult } from '../output.ts';
import { withProgressBar } from './progress-bar.ts';

export function restoreCommand(): Command {
  return jsonCommand(
    'restore',
    'bring a backup back as an SQLite database, while no server runs',
    'offerbook restore /var/backups/offerbook/2026-11-16 --replace',
  )
    .argument('[source]', 'the folder that offerbook backup has made')
    .option('--replace', 'put it in the place of a database that is there, which is moved aside')
    .option('--keep-stamps', 'for a copy that nobody has polled: transactions keep their updatedAt')
    .option(
      '--mark-only',
      'only give new stamps: the database was brought back by other means, such as pg_restore',
    )
    .action(restore);
}

interface RestoreOptions extends StoreOptions {
  readonly replace?: boolean;
  readonly keepStamps?: boolean;
  readonly markOnly?: boolean;
}

async function restore(source: string | undefined, options: RestoreOptions): Promise<void> {
  if ((source === undefined) !== (options.markOnly === true))
    throw new BadInput('restore takes the folder of a backup, or --mark-only without one');
  const url = readDatabaseUrl(options.database);
  const auditor = { clock: systemClock, by: currentUser() };
  const keepsStamps = options.keepStamps === true;
  if (source === undefined) return markOnly(url, options, auditor, keepsStamps);
  const replaces = options.replace === true;
  const report = await withProgressBar((show) =>
    restoreBackup({ url, source, replaces, keepsStamps, auditor, onRows: show }).catch((error: unknown) => {
      if (!isStorageError(error, 'exists')) throw error;
      throw new Refused(`${error.message}; add --replace to put the backup in its place`, { cause: error });
    }),
  );
  const { madeAt, stamped, tokensRevoked, usersErased, organisationsDeleted, unknown, clicks, replaced } =
    report;
  const words = [
    `Restored the backup of ${madeAt}. ${printCountOf(stamped, 'transaction')} got a new stamp; clicks are ${clicks}.`,
    ...(tokensRevoked > 0 ? [`Revoked ${printCountOf(tokensRevoked, 'token')} again.`] : []),
    ...(usersErased > 0 ? [`Erased ${printCountOf(usersErased, 'user')} again.`] : []),
    ...(organisationsDeleted.length > 0 ? [deletedInWords(organisationsDeleted)] : []),
    ...(unknown.length > 0 ? [unknownInWords(unknown)] : []),
    ...(replaced === null
      ? []
      : [`The database that was replaced is in ${replaced}; delete that folder when you no longer need it.`]),
  ];
  await printResult(options, report, words.join('\n'));
  printNote(
    'Look at offerbook tokens list before you start a server, and import again what came after the backup.',
  );
}

function deletedInWords(names: readonly string[]): string {
  return `Deleted after the backup, and back without a token that is good: ${names.map(printable).join(', ')}. Delete what should not be here: offerbook orgs delete NAME`;
}

const LATER_EVENT_WORDS: Readonly<Record<LaterEvent, string>> = {
  revocations: 'revocations of tokens',
  erasures: 'erasures of users',
  deletions: 'deletions of organisations',
};

function unknownInWords(events: readonly LaterEvent[]): string {
  const words = events.map((event) => LATER_EVENT_WORDS[event]);
  return `Not known, and to be repeated if there were any after the backup: ${words.join(', ')}.`;
}

async function markOnly(
  url: string,
  options: RestoreOptions,
  auditor: { clock: typeof systemClock; by: string },
  keepsStamps: boolean,
): Promise<void> {
  await using database = closing(openDatabase(url, COMMAND_OPTIONS));
  await prepareSchema(url, database, COMMAND_OPTIONS, auditor);
  const report = await withProgressBar((show) =>
    beginTimeline(database, auditor, { keepsStamps, madeAt: null, onRows: show }),
  );
  await printResult(options, report, `${printCountOf(report.stamped, 'transaction')} got a new stamp.`);
}
