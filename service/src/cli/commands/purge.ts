// offerbook purge: forgets versions of transactions that were replaced long ago. Transactions themselves stay.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { printResult } from '../output.ts';
import { parseOlderThanMs } from './option-values.ts';
import { withProgressBar } from './progress-bar.ts';

export function purgeCommand(): Command {
  return jsonCommand(
    'purge',
    'forget versions of transactions that were replaced long ago; transactions themselves stay',
    'offerbook purge --older-than 400d',
  )
    .requiredOption('--older-than <duration>', 'how long ago they were replaced, at least 1d')
    .action(purge);
}

async function purge(options: StoreOptions & { olderThan: string }): Promise<void> {
  const beforeMs = parseOlderThanMs(options.olderThan);
  await withStores(options, async (stores) => {
    const versions = await withProgressBar((show) => stores.history.purge(beforeMs, show));
    const before = printTimestamp(beforeMs);
    await printResult(
      options,
      { versions, replacedBefore: before },
      `Purged ${printCountOf(versions, 'version')} that ${versions === 1 ? 'was' : 'were'} replaced before ${before}.`,
    );
  });
}
