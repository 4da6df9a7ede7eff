// offerbook backup: copies an SQLite database into a folder that `offerbook restore` reads. Servers and imports can keep
// running.

import { printCountsOf } from '@offerbook/wire/count.ts';
import type { Command } from 'commander';
import { databaseName } from '../../../activation/activation-directory.ts';
import { ClickIds } from '../../../activation/click-id.ts';
import { clickProblem } from '../../../activation/click-problem.ts';
import { VERSION } from '../../../domain/build.ts';
import { systemClock } from '../../../domain/clock.ts';
import { makeBackup } from '../../../storage/backup/make-backup.ts';
import { jsonCommand, type StoreOptions, spoolOption } from '../../command.ts';
import { spoolPath } from '../../node/activation.ts';
import { printResult } from '../../output.ts';
import type { BackupProgressTask } from './backup-progress-thread.ts';

export function backupCommand(): Command {
  return jsonCommand(
    'backup',
    'back up an SQLite database to a new folder, with checksums; servers and imports can keep running',
    'offerbook backup /var/backups/offerbook/2026-11-16',
  )
    .argument('<target>', 'folder to create')
    .addOption(spoolOption())
    .action(backup);
}

async function backup(target: string, options: StoreOptions & { spool?: string }): Promise<void> {
  const url = options.database;
  const startedMs = performance.now();
  let endProgress = () => {};
  const made = await makeBackup({
    url,
    target,
    spoolPath: (key) => spoolPath(options.spool, url, databaseName(key)),
    isOurs: (click, key) => clickProblem(click, new ClickIds(key)) === undefined,
    clock: systemClock,
    onStart: (folder, bytes) => {
      endProgress = showBackupProgress({ folder, bytesMax: bytes });
    },
    version: VERSION,
  }).finally(() => endProgress());
  const seconds = Math.round(performance.now() - startedMs) / 1000;
  const bytes = made.files.reduce((sum, file) => sum + file.bytes, 0);
  const rows = (table: string) => made.files.reduce((sum, file) => sum + (file.rows[table] ?? 0), 0);
  const counts = printCountsOf({ transactions: rows('transactions'), clicks: rows('clicks') });
  await printResult(
    options,
    { target, ...made, seconds },
    `Backed up ${counts} to ${target} (${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s).`,
  );
}

/**
 * Prints the progress if stderr is a terminal. A thread watches the size of the new folder, because SQLite blocks the thread that
 * copies. Returns a function that ends the thread and removes its line.
 */
export function showBackupProgress(task: BackupProgressTask): () => void {
  if (!process.stderr.isTTY) return () => {};
  // No extension: the file is .ts in a checkout and .js in a build.
  const thread = new Worker(new URL('./backup-progress-thread', import.meta.url));
  thread.onerror = () => thread.terminate();
  thread.unref();
  thread.postMessage(task);
  return () => {
    thread.terminate();
    process.stderr.write('\r\x1b[K');
  };
}
