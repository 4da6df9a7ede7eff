// offerbook purge: forgets versions of transactions that were replaced long ago. Transactions themselves stay.

import type { Command } from 'commander';
import { systemClock } from '../../domain/clock.ts';
import { printCountOf } from '../../domain/count.ts';
import { BadInput } from '../../domain/failures.ts';
import { printTimestamp } from '../../domain/timestamp.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { printResult } from '../output.ts';
import { parseDurationMs } from './duration.ts';
import { withProgressBar } from './progress-bar.ts';

/** A walk reads the state of its first page for an hour, so what was replaced within a day stays. */
const OLDEST_MIN_MS = 86_400_000;

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
  const ageMs = parseDurationMs('--older-than', options.olderThan);
  if (ageMs < OLDEST_MIN_MS) throw new BadInput('--older-than must be at least 1d');
  const beforeMs = systemClock() - ageMs;
  await withStores(options, async (stores) => {
    const versions = await withProgressBar((show) =>
      stores.history.purge(beforeMs, (rows) => show({ rows })),
    );
    const before = printTimestamp(beforeMs);
    await printResult(
      options,
      { versions, replacedBefore: before },
      `Purged ${printCountOf(versions, 'version')} that ${versions === 1 ? 'was' : 'were'} replaced before ${before}.`,
    );
  });
}
