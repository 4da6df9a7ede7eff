// offerbook activations: counts clicks, and deletes old clicks that did not lead to a sale. Clicks contain passbackUid and
// passbackData, which may identify a person.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { Command } from 'commander';
import { CLICK_DAYS, countClicks } from '../../../console/counts/click-totals.ts';
import { systemClock } from '../../../domain/clock.ts';
import { jsonCommand, readStores, type StoreOptions, withStores } from '../../command.ts';
import { parseCount, parseOlderThan } from '../../option-values.ts';
import { printResult, table } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

export function activationsCommand(): Command {
  const purge = jsonCommand(
    'purge',
    'delete old clicks without a sale, with their passbackUid and passbackData',
    'offerbook activations purge --older-than 400d',
  )
    .requiredOption(
      '--older-than <duration>',
      'delete clicks of at least this age (minimum 1d)',
      parseOlderThan,
    )
    .action(purgeClicks);
  const totals = jsonCommand(
    'totals',
    'count clicks and sales by day, organisation and retailer',
    'offerbook activations totals --days 30',
  )
    .option('--days <number>', 'number of days, including today', parseCount('--days'), CLICK_DAYS)
    .action(showTotals);
  return new Command('activations')
    .description('count clicks and delete old ones')
    .addCommand(purge)
    .addCommand(totals);
}

async function showTotals(options: StoreOptions & { days: number }): Promise<void> {
  await readStores(options, async (stores) => {
    const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
    const counted = await countClicks(stores.clicks, systemClock(), options.days);
    const json = counted.flatMap(({ dayMs, counts }) =>
      counts.map(({ orgId, ...count }) => ({
        day: printTimestamp(dayMs).slice(0, 10),
        org: names.get(orgId) ?? null,
        ...count,
      })),
    );
    const rows = json.map(({ day, org, retailerId, clicks, tracked, sold }) => [
      ...[day, org ?? '', retailerId],
      ...[clicks, tracked, sold].map(printCount),
    ]);
    const text = table(['DAY', 'ORG', 'RETAILER', 'CLICKS', 'TRACKED', 'SOLD'], rows, 'No clicks.');
    await printResult(options, json, text);
  });
}

async function purgeClicks(options: StoreOptions & { olderThan: number }): Promise<void> {
  const beforeMs = options.olderThan;
  await withStores(options, async (stores) => {
    const clicks = await withProgressBar((show) => stores.clicks.purge(beforeMs, show));
    const before = printTimestamp(beforeMs);
    await printResult(
      options,
      { clicks, madeBefore: before },
      `Purged ${printCountOf(clicks, 'click')} made before ${before} that did not lead to a sale.`,
    );
  });
}
