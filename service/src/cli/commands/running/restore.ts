// offerbook restore: restores a backup, and gives transactions new stamps so that polling clients do not miss changes.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { systemClock } from '../../../domain/clock.ts';
import { isStorageError } from '../../../domain/storage-error.ts';
import { beginTimeline, type TimelineOptions } from '../../../storage/backup/new-timeline.ts';
import type { LaterEvent } from '../../../storage/backup/replaced-database.ts';
import { restoreBackup } from '../../../storage/backup/restore-backup.ts';
import type { Database } from '../../../storage/database.ts';
import { openDatabase, sqlitePath } from '../../../storage/open-database.ts';
import { closing } from '../../../storage/open-once.ts';
import { COMMAND_OPTIONS, prepareSchema } from '../../../storage/open-stores.ts';
import { settleFailovers } from '../../../storage/postgres/failovers.ts';
import { auditor, jsonCommand, type StoreOptions } from '../../command.ts';
import { printable, printNote, printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function restoreCommand(): Command {
  return jsonCommand(
    'restore',
    'restore an SQLite database from a backup; stop all servers first',
    'offerbook restore /var/backups/offerbook/2026-11-16 --replace',
  )
    .argument('[source]', 'folder created by offerbook backup')
    .option('--replace', 'replace an existing database, and move it to a folder next to the new one')
    .option('--keep-stamps', 'keep every updatedAt; only for a copy that no client has polled')
    .option('--mark-only', 'only set new stamps, after restoring with another tool such as pg_restore')
    .action(restore);
}

async function restore(
  source: string | undefined,
  options: StoreOptions & { replace?: boolean; keepStamps?: boolean; markOnly?: boolean },
): Promise<void> {
  if ((source === undefined) !== (options.markOnly === true))
    throw new BadInput("specify the backup's folder, or use --mark-only without a folder");
  const url = options.database;
  const keepsStamps = options.keepStamps === true;
  if (source === undefined) return markOnly(options, keepsStamps);
  const replaces = options.replace === true;
  const report = await withProgressBar((show) =>
    restoreBackup({
      ...{ url, source, replaces, keepsStamps, auditor: auditor(), onRows: show },
    }).catch((error: unknown) => {
      if (!isStorageError(error, 'exists')) throw error;
      throw new Refused(`${error.message}; add --replace to replace it with the backup`, { cause: error });
    }),
  );
  const { madeAt, stamped, tokensRevoked, webhooksPaused, usersErased, clicks, replaced } = report;
  const { organisationsDeleted, unknown } = report;
  const lines = [
    `Restored the backup of ${madeAt}. ${printStamped(stamped)} Clicks: ${clicks}.`,
    ...(tokensRevoked > 0 ? [`Revoked ${printCountOf(tokensRevoked, 'token')} again.`] : []),
    ...printPaused(webhooksPaused),
    ...(usersErased > 0 ? [`Erased ${printCountOf(usersErased, 'user')} again.`] : []),
    ...(organisationsDeleted.length > 0 ? [printDeleted(organisationsDeleted)] : []),
    ...(unknown.length > 0 ? [printUnknown(unknown)] : []),
    ...(replaced === null
      ? []
      : [`The replaced database is in ${replaced}; delete that folder when you no longer need it.`]),
  ];
  await printResult(options, report, lines.join('\n'));
  printNote(
    'Before you start a server, check the tokens (offerbook tokens list), and repeat the imports made after the backup.',
  );
}

function printPaused(webhooks: number): string[] {
  if (webhooks === 0) return [];
  return [
    `Paused ${printCountOf(webhooks, 'webhook')} that may have been changed or deleted after the backup. Check: offerbook webhooks list. Then run for each of them: offerbook webhooks resume ID, or offerbook webhooks delete ID`,
  ];
}

function printDeleted(names: readonly string[]): string {
  return `These organisations were deleted after the backup and are restored without valid tokens: ${names.map(printable).join(', ')}. Delete them again with: offerbook orgs delete NAME`;
}

const LATER_EVENTS: Readonly<Record<LaterEvent, string>> = {
  revocations: 'token revocations',
  erasures: 'user erasures',
  deletions: 'organisation deletions',
};

function printUnknown(events: readonly LaterEvent[]): string {
  const names = events.map((event) => LATER_EVENTS[event]);
  return `These changes could not be read; repeat any that were made after the backup: ${names.join(', ')}.`;
}

async function markOnly(options: StoreOptions, keepsStamps: boolean): Promise<void> {
  const report = await giveNewStamps(openDatabase(options.database, COMMAND_OPTIONS), options, {
    keepsStamps,
  });
  const lines = [printStamped(report.stamped), ...printPaused(report.webhooksPaused)];
  await printResult(options, report, lines.join('\n'));
}

/** Also used by `failover mark`. Closes the database. */
export async function giveNewStamps(
  opened: Database,
  { database: url }: StoreOptions,
  how: Pick<TimelineOptions, 'keepsStamps' | 'isRestore'>,
) {
  await using database = closing(opened);
  const by = auditor();
  await prepareSchema(url, database, COMMAND_OPTIONS, by);
  const report = await withProgressBar((show) =>
    beginTimeline(database, by, { ...how, madeAt: null, onRows: show }),
  );
  if (sqlitePath(url) === undefined) await settleFailovers(database, systemClock());
  return report;
}

export function printStamped(transactions: number): string {
  return `${printCountOf(transactions, 'transaction')} got a new stamp.`;
}
