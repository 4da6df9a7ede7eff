// offerbook pull: fetches sales from affiliate networks and imports them.

import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { readCouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import { printCount } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { openSource } from '@offerbook/wire/rows/import-source.ts';
import { parseInstant, printTimestamp } from '@offerbook/wire/timestamp.ts';
import { Command } from 'commander';
import manifest from '../../../package.json';
import { systemClock } from '../../domain/clock.ts';
import type { Organisation } from '../../domain/organisation.ts';
import type { PullState } from '../../domain/pull.ts';
import type { Stores } from '../../domain/stores.ts';
import { pullSource } from '../../pull/pull-source.ts';
import type { PullContext, StreamReport } from '../../pull/source-run.ts';
import { jsonCommand, readStores, type StoreOptions, withStores } from '../command.ts';
import { currentUser } from '../current-user.ts';
import { traceCommand } from '../open-tracing.ts';
import { printNote, printResult, table } from '../output.ts';
import { AsideFile } from './aside-file.ts';
import { parsePositiveDurationMs } from './option-values.ts';
import { getOrganisation } from './organisations.ts';
import { withProgressBar } from './progress-bar.ts';
import { findSourceProblem, type NamedSource, readPullSource } from './pull-sources.ts';

/** Networks change sales for about a year. */
const HISTORY_MS = 396 * 86_400_000;

interface PullCommandOptions extends StoreOptions {
  readonly source: readonly string[];
  readonly org?: string;
  readonly since?: number;
  readonly every?: number;
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly skipInvalid?: boolean;
  readonly unattributed?: string;
  readonly catalogue?: readonly string[];
  readonly allowOtherHost?: boolean;
}

export function pullCommand(): Command {
  const status = jsonCommand(
    'status',
    'list the streams of all sources: how far each has been read, and its last error',
    'offerbook pull status',
  ).action(printStatus);
  const transactions = withPullOptions(
    jsonCommand(
      'transactions',
      'fetch sales and import them; the default',
      'offerbook pull transactions --source awin.json --org acme',
    ),
  ).action(pull);
  return new Command('pull')
    .description('fetch sales from affiliate networks and import them')
    .addCommand(transactions, { isDefault: true })
    .addCommand(status);
}

function withPullOptions(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []) => [...before, value];
  return command
    .option('--source <file>', 'source file; may be repeated; see offerbook convert --example awin', collect)
    .option('--org <name>', 'organisation of the sales; not for sources whose sub-ids are clicks')
    .option('--since <time>', 'read everything since this time again, such as 2026-08-01', parseSince)
    .option('--every <duration>', 'repeat until stopped, with this pause, such as 30m', (text) =>
      parsePositiveDurationMs('--every', text),
    )
    .option('--check', 'check the credentials and the clock with one request per source; import nothing')
    .option('--dry-run', 'fetch sales and print what would change; import nothing')
    .option('--skip-invalid', 'import the valid rows of a window and list the invalid ones')
    .option(
      '--unattributed <file>',
      'append sales whose click is unknown to this file instead of rejecting them',
    )
    .option(
      '--catalogue <file>',
      'exported catalogue, used to find coupons by code; may be repeated',
      collect,
    )
    .option('--allow-other-host', 'allow a baseUrl that is not on this machine');
}

function parseSince(text: string): number {
  const ms = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)?.ms;
  if (ms === undefined || ms > systemClock()) {
    throw new BadInput(
      `--since must be a time in the past, such as 2026-08-01 or 2026-08-01T12:00:00Z, not "${text}"`,
    );
  }
  return ms;
}

async function pull(options: PullCommandOptions): Promise<void> {
  const sources = await readSources(options);
  if (options.check === true) return checkSources(options, sources);
  if (options.every === undefined) return pullOnce(options, sources);
  // Ending at any time is safe: the next pull repeats the window.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  for (;;) {
    try {
      await pullOnce(options, sources);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      printNote(`offerbook: ${error.message}`);
    }
    await Bun.sleep(options.every);
  }
}

async function readSources(options: PullCommandOptions): Promise<NamedSource[]> {
  const { source: paths = [], catalogue, org, allowOtherHost } = options;
  if (paths.length === 0) throw new BadInput('missing --source <file>');
  const coupons = catalogue && (await readCouponCodes(await Promise.all(catalogue.map(openSource))));
  const sources: NamedSource[] = [];
  for (const path of paths) {
    const found = await readPullSource(path, { allowOtherHost, coupons });
    requireOrganisation(found.source, org, path);
    if (sources.some(({ name }) => name === found.name))
      throw new BadInput(`${path}: ${found.name} occurs twice`);
    sources.push(found);
  }
  return sources;
}

function requireOrganisation({ subId, separator = '' }: Source, org: string | undefined, path: string): void {
  if (subId === 'click') {
    if (org !== undefined)
      throw new BadInput(`${path}: its sub-ids are clicks, which name the organisation; omit --org`);
  } else if (org === undefined) {
    throw new BadInput(`${path}: missing --org <name>, because its sub-ids do not name a click`);
  } else if (subId === 'org-uid' && org.includes(separator)) {
    throw new BadInput(`--org must not contain the separator ${JSON.stringify(separator)}`);
  }
}

function contextOf(stores: Stores): PullContext {
  return { stores, clock: systemClock, sleep: (ms) => Bun.sleep(ms), random: Math.random };
}

async function checkSources(options: PullCommandOptions, sources: readonly NamedSource[]): Promise<void> {
  const failed: string[] = [];
  await withStores(options, async (stores) => {
    for (const source of sources) {
      const problem = await findSourceProblem(source, contextOf(stores));
      if (problem !== undefined) failed.push(`${source.name}: ${problem}`);
    }
  });
  if (failed.length > 0) throw new Refused(failed.join('\n'));
  const names = sources.map(({ name }) => name);
  await printResult(options, { checked: names }, `${names.join(', ')}: the credentials work.`);
}

async function pullOnce(options: PullCommandOptions, sources: readonly NamedSource[]): Promise<void> {
  const nowMs = systemClock();
  const reports: StreamReport[] = [];
  const failed: string[] = [];
  using aside = options.unattributed === undefined ? undefined : new AsideFile(options.unattributed, '');
  await withStores(options, async (stores) => {
    const org: Organisation | undefined =
      options.org === undefined ? undefined : await getOrganisation(stores, options.org, 'to write');
    for (const source of sources) {
      try {
        const found = await traceCommand(options.database, `pull ${source.source.network}`, async (span) => {
          if (span !== undefined) span.attributes['offerbook.source'] = source.name;
          return await withProgressBar((onRows) =>
            pullSource(
              source,
              {
                ...{ org, aside, onRows, onNote: printNote },
                startMs: nowMs - HISTORY_MS,
                sinceMs: options.since,
                dryRun: options.dryRun,
                skipInvalid: options.skipInvalid,
                by: currentUser(),
                version: manifest.version,
              },
              { ...contextOf(stores), span },
            ),
          );
        });
        reports.push(...found);
        for (const { stream, error } of found) {
          if (error !== null) failed.push(`${source.name}, ${stream}: ${error}`);
        }
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        failed.push(error.message);
      }
    }
  });
  await printResult(
    options,
    reports.map(toJson),
    reports.map((report) => printReport(report, options.dryRun === true)).join('\n'),
  );
  if (failed.length > 0) throw new Refused(failed.join('\n'));
}

function printReport(
  { source, stream, windows, completeThroughMs, counts }: StreamReport,
  isDryRun: boolean,
): string {
  const through =
    completeThroughMs === null ? 'nothing read yet' : `complete through ${printTimestamp(completeThroughMs)}`;
  const { added, changed, unchanged, invalid } = counts;
  const rows = [
    `${printCount(added)} added`,
    `${printCount(changed)} changed`,
    `${printCount(unchanged)} unchanged`,
    ...(invalid > 0 ? [`${printCount(invalid)} invalid`] : []),
  ];
  const dry = isDryRun ? ' Dry run, nothing was changed.' : '';
  return `${source}, ${stream}: ${through}; ${windows === 0 ? 'up to date' : rows.join(', ')}.${dry}`;
}

function toJson({ completeThroughMs, ...report }: StreamReport) {
  return {
    ...report,
    completeThrough: completeThroughMs === null ? null : printTimestamp(completeThroughMs),
  };
}

async function printStatus(options: StoreOptions): Promise<void> {
  await readStores(options, async (stores) => {
    const states = await stores.pulls.list();
    const text = table(
      [
        'SOURCE',
        'STREAM',
        'ORGANISATION',
        'COMPLETE THROUGH',
        'LAST SUCCESS',
        'ADDED',
        'CHANGED',
        'LAST ERROR',
      ],
      states.map((state) => [
        ...[state.source, state.stream, state.orgName ?? '–'],
        ...[printTime(state.completeThroughMs), printTime(state.lastSuccessMs)],
        ...[printCount(state.counts.added), printCount(state.counts.changed), state.error ?? '–'],
      ]),
      'Nothing has been pulled yet.',
    );
    await printResult(options, states.map(stateToJson), text);
  });
}

function printTime(ms: number | null): string {
  return ms === null ? '–' : printTimestamp(ms);
}

function stateToJson(state: PullState) {
  const { source, stream, orgName, counts, error } = state;
  const time = (ms: number | null) => (ms === null ? null : printTimestamp(ms));
  return {
    ...{ source, stream, organisation: orgName },
    completeThrough: time(state.completeThroughMs),
    lastSuccess: time(state.lastSuccessMs),
    counts,
    error,
    failedAt: time(state.failedAtMs),
  };
}
