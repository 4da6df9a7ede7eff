// offerbook purge: deletes transaction versions that were replaced long ago. It keeps current versions.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import { jsonCommand, openForWriting, type StoreOptions } from '../../command.ts';
import { parseOlderThan } from '../../option-values.ts';
import { printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function purgeCommand(): Command {
  return jsonCommand(
    'purge',
    'delete replaced versions of transactions; current versions are kept',
    'offerbook purge --older-than 400d',
  )
    .requiredOption(
      '--older-than <duration>',
      'delete versions replaced at least this long ago (minimum 1d)',
      parseOlderThan,
    )
    .action(purge);
}

async function purge(options: StoreOptions & { olderThan: number }): Promise<void> {
  const beforeMs = options.olderThan;
  await using stores = await openForWriting(options);
  const versions = await withProgressBar((show) => stores.history.purge(beforeMs, show));
  const before = printTimestamp(beforeMs);
  const text = `Purged ${printCountOf(versions, 'version')} that ${versions === 1 ? 'was' : 'were'} replaced before ${before}.`;
  await printResult(options, { versions, replacedBefore: before }, text);
}
