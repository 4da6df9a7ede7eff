// offerbook copy: copies everything, or some organisations, from one database into another, for example from SQLite to PostgreSQL.

import { dirname } from 'node:path';
import { printCountOf, printCountsOf } from '@offerbook/wire/count.ts';
import type { Command } from 'commander';
import { databaseName } from '../../../activation/activation-directory.ts';
import { copyDatabase } from '../../../storage/copy-database.ts';
import { countSpooled } from '../../../storage/inspect-database.ts';
import {
  auditor,
  environmentOption,
  jsonCommand,
  openForReading,
  type StoreOptions,
  spoolOption,
} from '../../command.ts';
import { spoolPath } from '../../node/activation.ts';
import { printNote, printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function copyCommand(): Command {
  return jsonCommand(
    'copy',
    'copy everything into an empty database: organisations, tokens, catalogue, links, clicks, transactions, logs',
    'offerbook copy --database sqlite:./offerbook.db --to postgres://db.example/offerbook',
  )
    .addOption(
      environmentOption('--to <url>', 'database to copy to', 'OFFERBOOK_TO_URL').makeOptionMandatory(),
    )
    .option('--org <names...>', 'copy only these organisations, with the whole catalogue and all links')
    .addOption(spoolOption())
    .action(copy);
}

async function copy(
  options: StoreOptions & { to: string; org?: readonly string[]; spool?: string },
): Promise<void> {
  const { database: from, to } = options;
  const startedMs = performance.now();
  const report = await withProgressBar((show) => copyDatabase(from, to, auditor(), show, options.org));
  const seconds = Math.round(performance.now() - startedMs) / 1000;
  const { organisations, tokens, retailers, transactions, clicks } = report;
  const copied = printCountsOf({ organisations, tokens, retailers, transactions, clicks });
  await printResult(options, { ...report, seconds }, `Copied ${copied} (${seconds.toFixed(1)} s).`);
  await noteSpooled(from, to, options.spool);
}

/**
 * Warns about clicks in the spool, which are not copied. The copy has the same click key, so its servers can use the same
 * spool.
 */
async function noteSpooled(from: string, to: string, folder: string | undefined): Promise<void> {
  await using copied = await openForReading({ database: to });
  const path = spoolPath(folder, from, databaseName(await copied.clickKey()));
  // The copy is already complete, so an unreadable spool must not make the command fail.
  const waiting = await countSpooled(path).catch(() => undefined);
  if (waiting === undefined)
    printNote(`offerbook: cannot read the spool ${path}; check it before you delete it`);
  else if (waiting > 0)
    printNote(
      `offerbook: the spool ${path} still contains ${printCountOf(waiting, 'click')}; start a server on the new database with --spool ${dirname(path)} to record them`,
    );
}
