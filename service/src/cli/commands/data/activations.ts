// offerbook activations: counts clicks, and deletes old clicks that did not lead to a sale. Clicks contain passbackUid and
// passbackData, which may identify a person.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import { CLICK_DAYS, ClickCounter } from '../../../console/counts/click-totals.ts';
import { systemClock } from '../../../domain/clock.ts';
import { group, jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
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
  return group('activations', 'count clicks and delete old ones', [purge, totals]);
}

async function showTotals(options: StoreOptions & { days: number }): Promise<void> {
  await using stores = await openForReading(options);
  const names = new Map((await stores.organisations.list()).map(({ id, name }) => [id, name]));
  const counted = await new ClickCounter().count(stores.clicks, systemClock(), options.days);
  const json = counted.flatMap(({ dayMs, counts }) =>
    counts.map(({ orgId, ...count }) => ({
      day: printTimestamp(dayMs).slice(0, 10),
      org: names.get(orgId) ?? null,
      ...count,
    })),
  );
  const rows = json.map(({ day, org, retailerId, clicks, tracked, sold }) => ({
    ...{ DAY: day, ORG: org ?? '', RETAILER: retailerId },
    ...{ CLICKS: printCount(clicks), TRACKED: printCount(tracked), SOLD: printCount(sold) },
  }));
  await printResult(options, json, table(rows, 'No clicks.'));
}

async function purgeClicks(options: StoreOptions & { olderThan: number }): Promise<void> {
  const beforeMs = options.olderThan;
  await using stores = await openForWriting(options);
  const clicks = await withProgressBar((show) => stores.clicks.purge(beforeMs, show));
  const before = printTimestamp(beforeMs);
  const text = `Purged ${printCountOf(clicks, 'click')} made before ${before} that did not lead to a sale.`;
  await printResult(options, { clicks, madeBefore: before }, text);
}
