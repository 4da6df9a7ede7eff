// offerbook copy: everything from one database into another, as when an installation outgrows SQLite.

import type { Command } from 'commander';
import { readDatabaseUrl, readTargetUrl } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';
import { printCountOf } from '../../domain/count.ts';
import { BadInput } from '../../domain/failures.ts';
import { type CopyReport, copyDatabase } from '../../storage/copy-database.ts';
import { jsonCommand, type StoreOptions } from '../command.ts';
import { currentUser } from '../current-user.ts';
import { printResult } from '../output.ts';
import { progressBar } from './progress-bar.ts';

export function copyCommand(): Command {
  return jsonCommand(
    'copy',
    'copy organisations, tokens, catalogue, links, clicks, transactions and the books into an empty database',
    'offerbook copy --database sqlite:./offerbook.db --to postgres://db.example/offerbook',
  )
    .option('--to <url>', 'the database to copy to (default: $OFFERBOOK_TO_URL)')
    .action(copy);
}

async function copy(options: StoreOptions & { readonly to?: string }): Promise<void> {
  const to = readTargetUrl(options.to);
  if (to === undefined) throw new BadInput('say where to copy to, with --to or OFFERBOOK_TO_URL');
  const startedMs = performance.now();
  const bar = progressBar();
  const from = readDatabaseUrl(options.database);
  const auditor = { clock: systemClock, by: currentUser() };
  try {
    const report = await copyDatabase(from, to, auditor, (rows) =>
      bar.show({ bytesRead: 0, bytesTotal: undefined, rows }),
    );
    const seconds = Math.round(performance.now() - startedMs) / 1000;
    bar.clear();
    await printResult(
      options,
      { ...report, seconds },
      `Copied ${inWords(report)} (${seconds.toFixed(1)} s).`,
    );
  } finally {
    bar.clear();
  }
}

function inWords({ organisations, tokens, retailers, transactions, clicks }: CopyReport): string {
  const [tenants, keys, shops, sales, visits] = [
    printCountOf(organisations, 'organisation'),
    printCountOf(tokens, 'token'),
    printCountOf(retailers, 'retailer'),
    printCountOf(transactions, 'transaction'),
    printCountOf(clicks, 'click'),
  ];
  return `${tenants}, ${keys}, ${shops}, ${sales} and ${visits}`;
}
