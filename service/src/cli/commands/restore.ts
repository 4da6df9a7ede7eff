// offerbook restore: restores a backup, and gives transactions new stamps so that polling clients miss no change.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
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
    'restore an SQLite database from a backup; stop all servers first',
    'offerbook restore /var/backups/offerbook/2026-11-16 --replace',
  )
    .argument('[source]', 'folder that offerbook backup created')
    .option('--replace', 'replace an existing database; it is moved to a folder next to it')
    .option('--keep-stamps', 'keep every updatedAt; only for a copy that no client has polled')
    .option('--mark-only', 'only set new stamps, after a restore by another tool such as pg_restore')
    .action(restore);
}

interface RestoreOptions extends StoreOptions {
  readonly replace?: boolean;
  readonly keepStamps?: boolean;
  readonly markOnly?: boolean;
}

async function restore(source: string | undefined, options: RestoreOptions): Promise<void> {
  if ((source === undefined) !== (options.markOnly === true))
    throw new BadInput("name the backup's folder, or use --mark-only without one");
  const url = options.database;
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
    `Restored the backup of ${madeAt}. ${printCountOf(stamped, 'transaction')} got a new stamp. Clicks: ${clicks}.`,
    ...(tokensRevoked > 0 ? [`Revoked ${printCountOf(tokensRevoked, 'token')} again.`] : []),
    ...(usersErased > 0 ? [`Erased ${printCountOf(usersErased, 'user')} again.`] : []),
    ...(organisationsDeleted.length > 0 ? [deletedInWords(organisationsDeleted)] : []),
    ...(unknown.length > 0 ? [unknownInWords(unknown)] : []),
    ...(replaced === null
      ? []
      : [`The replaced database is in ${replaced}; delete that folder when you no longer need it.`]),
  ];
  await printResult(options, report, words.join('\n'));
  printNote(
    'Before you start a server, check offerbook tokens list, and repeat the imports made after the backup.',
  );
}

function deletedInWords(names: readonly string[]): string {
  return `Deleted after the backup, and restored without valid tokens: ${names.map(printable).join(', ')}. Delete them again with: offerbook orgs delete NAME`;
}

const LATER_EVENT_WORDS: Readonly<Record<LaterEvent, string>> = {
  revocations: 'revocations of tokens',
  erasures: 'erasures of users',
  deletions: 'deletions of organisations',
};

function unknownInWords(events: readonly LaterEvent[]): string {
  const words = events.map((event) => LATER_EVENT_WORDS[event]);
  return `Repeat these if there were any after the backup; they could not be read: ${words.join(', ')}.`;
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
