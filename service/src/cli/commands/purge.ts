// offerbook purge: deletes earlier versions of transactions that were replaced long ago. Current versions stay.

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
    'delete old earlier versions of transactions; current versions stay',
    'offerbook purge --older-than 400d',
  )
    .requiredOption('--older-than <duration>', 'minimum time since a version was replaced, at least 1d')
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
