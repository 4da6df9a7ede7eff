// offerbook pull: fetches sales and catalogues from affiliate networks and imports them.

import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { readCouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { openSource } from '@offerbook/wire/rows/import-source.ts';
import { parseInstant } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import { VERSION } from '../../../domain/build.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { pullSource } from '../../../pull/pull-source.ts';
import type { PullContext, PullOptions, StreamReport } from '../../../pull/source-run.ts';
import { HISTORY_MS } from '../../../pull/windows.ts';
import { jsonCommand, openForWriting, type StoreOptions } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { traceCommand } from '../../open-tracing.ts';
import { collect, parseCount, parsePositiveDurationMs } from '../../option-values.ts';
import { printNote, printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';
import { getOrganisation } from '../access/organisations.ts';
import { printFailure, printReport, pullProgress, toJson } from './pull-report.ts';
import { findSourceProblem, type NamedSource, readPullSource } from './pull-sources.ts';
import { forgetCommand, statusCommand } from './pull-status.ts';
import { openUnattributedFile } from './unattributed-file.ts';

/** A network that hangs must not keep the others waiting. */
const SOURCES_AT_ONCE = 5;

type PullFlag = 'check' | 'dryRun' | 'skipInvalid' | 'allowWithdrawals' | 'allowOtherHost';

interface PullCommandOptions extends StoreOptions, Readonly<Partial<Record<PullFlag, boolean>>> {
  readonly source?: readonly string[];
  readonly org?: string;
  readonly since?: number | undefined;
  readonly every?: number;
  readonly unattributed?: string;
  readonly catalogue?: readonly string[];
  readonly maxWithdrawals?: number;
}

type Kind = NonNullable<PullOptions['only']>;

export function pullCommand(): Command {
  const all = pullOf(
    'pull',
    'fetch sales and catalogues from affiliate networks and import them; the catalogue if it is six hours old',
    'offerbook pull --source awin.json --org acme',
  );
  const transactions = pullOf(
    'transactions',
    'fetch sales and import them',
    'offerbook pull transactions --source awin.json --org acme',
    'transactions',
  );
  const catalogue = pullOf(
    'catalogue',
    'fetch retailers, offers, coupons and promotions and import them',
    'offerbook pull catalogue --source awin.json --source cj.json',
    'catalogue',
  );
  // Otherwise, `pull` would take the options after the name of a subcommand.
  all.enablePositionalOptions();
  for (const command of [transactions, catalogue, statusCommand(), forgetCommand()]) all.addCommand(command);
  return all;
}

function pullOf(name: string, description: string, example: string, only?: Kind): Command {
  const command = jsonCommand(name, description, example)
    .option('--source <file>', 'source file; may be repeated; see offerbook convert --example awin', collect)
    .option('--every <duration>', 'repeat until stopped, with this pause between runs, such as 30m', (text) =>
      parsePositiveDurationMs('--every', text),
    )
    .option('--check', 'check the credentials and the clock with one request per source; import nothing')
    .option('--dry-run', 'fetch everything and print what would change; import nothing')
    .option('--skip-invalid', 'import the valid rows and list the invalid ones')
    .option('--allow-other-host', 'allow a baseUrl that is not on this machine');
  if (only !== 'catalogue')
    command
      .option('--org <name>', 'organisation of the sales; omit it if the sub-ids are click ids')
      .option('--since <time>', 'read all sales since this time (such as 2026-08-01) again', parseSince)
      .option(
        '--unattributed <file>',
        'append sales with an unknown click to this file instead of rejecting them',
      )
      .option(
        '--catalogue <file>',
        'exported catalogue, used to find coupons by code; may be repeated',
        collect,
      );
  if (only !== 'transactions')
    command
      .option(
        '--max-withdrawals <percent>',
        "reject a catalogue that withdraws more than this percentage of the source's retailers (default: 10, or 50 if there are at most 100)",
        parseCount('--max-withdrawals', 0, 100),
      )
      .option('--allow-withdrawals', 'allow any number of withdrawals');
  return command.action((options) => pull(options, only));
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

async function pull(options: PullCommandOptions, only: Kind | undefined): Promise<void> {
  const sources = await readSources(options);
  for (const { source, path, catalogue } of sources) {
    if (only !== 'catalogue') requireOrganisation(source, options.org, path);
    else if (catalogue === undefined)
      throw new BadInput(
        `${path}: missing "website", the id of your site (PID), which is needed to fetch links`,
      );
  }
  if (options.check === true) return checkSources(options, sources);
  if (options.every === undefined) return pullOnce(options, sources, only);
  // Ending at any time is safe: the next pull repeats the window.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  for (let sinceMs = options.since; ; sinceMs = undefined) {
    try {
      await pullOnce({ ...options, since: sinceMs }, sources, only);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      printNote(`offerbook: ${error.message}`);
    }
    await Bun.sleep(options.every);
  }
}

async function readSources(options: PullCommandOptions): Promise<NamedSource[]> {
  const { source: paths = [], catalogue, allowOtherHost } = options;
  if (paths.length === 0) throw new BadInput('missing --source <file>');
  const coupons = catalogue && (await readCouponCodes(await Promise.all(catalogue.map(openSource))));
  const sources: NamedSource[] = [];
  for (const path of paths) {
    const found = await readPullSource(path, { allowOtherHost, coupons });
    if (sources.some(({ name }) => name === found.name))
      throw new BadInput(`${path}: another source file also has ${found.name}; pass each source once`);
    sources.push(found);
  }
  return sources;
}

function requireOrganisation({ subId, separator = '' }: Source, org: string | undefined, path: string): void {
  if (subId === 'click') {
    if (org !== undefined)
      throw new BadInput(`${path}: its sub-ids are click ids, which identify the organisation; omit --org`);
  } else if (org === undefined) {
    throw new BadInput(`${path}: missing --org <name>, because its sub-ids are not click ids`);
  } else if (subId === 'org-uid' && org.includes(separator)) {
    throw new BadInput(`--org must not contain the separator ${JSON.stringify(separator)}`);
  }
}

function contextOf(stores: Stores): PullContext {
  return { stores, clock: systemClock, sleep: (ms) => Bun.sleep(ms), random: Math.random };
}

async function checkSources(options: PullCommandOptions, sources: readonly NamedSource[]): Promise<void> {
  await using stores = await openForWriting(options);
  const failed: string[] = [];
  for (const source of sources) {
    const problem = await findSourceProblem(source, contextOf(stores));
    if (problem !== undefined) failed.push(`${source.name}: ${problem}`);
  }
  if (failed.length > 0) throw new Refused(failed.join('\n'));
  const names = sources.map(({ name }) => name);
  await printResult(options, { checked: names }, `${names.join(', ')}: the credentials work.`);
}

async function pullOnce(
  options: PullCommandOptions,
  sources: readonly NamedSource[],
  only: Kind | undefined,
): Promise<void> {
  using unattributed = openUnattributedFile(options.unattributed, '');
  const org = await findOrganisation(options);
  const results = await withProgressBar(async (show) => {
    const progressOf = pullProgress(show, process.stderr.isTTY ? () => {} : printNote, systemClock);
    return await mapConcurrently(sources, SOURCES_AT_ONCE, async (source) => {
      try {
        const onRows = progressOf(source.name);
        return await pullTraced(options, source, { only, org, unattributed, onRows });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return error;
      }
    });
  });
  const reports = results.flatMap((result) => (result instanceof Refused ? [] : result));
  const failed = results.flatMap((result) =>
    result instanceof Refused ? result.message : result.flatMap(printFailure),
  );
  const text = reports.map((report) => printReport(report, options.dryRun === true)).join('\n');
  await printResult(options, reports.map(toJson), text);
  if (failed.length > 0) throw new Refused(failed.join('\n'));
}

async function findOrganisation(options: PullCommandOptions): Promise<Organisation | undefined> {
  await using stores = await openForWriting(options);
  return options.org === undefined ? undefined : await getOrganisation(stores, options.org, 'to write');
}

/** Rejects after all calls have ended. */
async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: limit }, async () => {
    for (const [index, item] of queue) {
      results[index] = work(item);
      await results[index].catch(() => undefined);
    }
  });
  await Promise.all(workers);
  return await Promise.all(results);
}

/** Each source has its own connections, because an import may wait for a different import while it holds a connection. */
async function pullTraced(
  options: PullCommandOptions,
  source: NamedSource,
  how: Pick<PullOptions, 'only' | 'org' | 'unattributed' | 'onRows'>,
): Promise<StreamReport[]> {
  await using stores = await openForWriting(options);
  return await traceCommand(options.database, `pull ${source.source.network}`, (span) => {
    if (span !== undefined) span.attributes['offerbook.source'] = source.name;
    const { dryRun, skipInvalid, maxWithdrawals, allowWithdrawals } = options;
    const pullOptions = {
      ...{ ...how, dryRun, skipInvalid, maxWithdrawals, allowWithdrawals },
      onNote: printNote,
      startMs: systemClock() - HISTORY_MS,
      sinceMs: options.since,
      by: currentUser(),
      version: VERSION,
    };
    return pullSource(source, pullOptions, { ...contextOf(stores), span });
  });
}
