// offerbook import: imports a catalogue, links or transactions from a file, all or nothing.

import { basename } from 'node:path';
import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { type ImportSource, openSource } from '@offerbook/wire/rows/import-source.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import type { Command } from 'commander';
import { VERSION } from '../../../domain/build.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { ImportKind, ImportOrigin } from '../../../domain/import-log.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { importCatalogue } from '../../../importer/import-catalogue.ts';
import { importLinks } from '../../../importer/import-links.ts';
import {
  type ImportReport,
  InvalidRows,
  recordImport,
  type WholeFileOptions,
} from '../../../importer/import-report.ts';
import { importTransactions } from '../../../importer/import-transactions.ts';
import type { DatabaseOptions } from '../../../storage/database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, DRY_RUN_OPTIONS } from '../../../storage/open-stores.ts';
import { group, jsonCommand, openForWriting, type StoreOptions } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { traceCommand } from '../../open-tracing.ts';
import { parseCount } from '../../option-values.ts';
import { printNote, printResult } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';
import { getOrganisation } from '../access/organisations.ts';
import { openUnattributedFile } from './unattributed-file.ts';

const NAME_LENGTH_MAX = 200;
/** Synchronised clocks differ by less than this. */
const CLOCK_LEAD_MAX_MS = 1_000;

/** What to call a row of each import in messages. */
const NOUNS = { catalogue: 'retailer', links: 'link', transactions: 'transaction' } as const;

const COUNTS = ['read', 'added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const;

interface ImportCommandOptions extends StoreOptions, WholeFileOptions {
  readonly by?: string;
  readonly source?: string;
  readonly org?: string;
  readonly unattributed?: string;
  readonly preserveUpdatedAt?: boolean;
}

export function importCommand(): Command {
  const catalogue = importOfWhole(
    'catalogue',
    "replace the catalogue with the file's contents",
    'NDJSON or JSON',
    'offerbook import catalogue retailers.ndjson',
  ).action((file: string, options: ImportCommandOptions) =>
    runImport('catalogue', file, options, (stores, source, how) =>
      importCatalogue(stores.catalogue, source, how),
    ),
  );
  const links = importOfWhole(
    'links',
    'replace all activation links with those in the file',
    'NDJSON, JSON or CSV',
    'offerbook import links links.ndjson',
  ).action((file: string, options: ImportCommandOptions) =>
    runImport('links', file, options, (stores, source, how) => importLinks(stores.links, source, how)),
  );
  const transactions = importOf(
    'transactions',
    'add and update transactions; a row replaces the whole transaction, and fields that it omits become null',
    'NDJSON, JSON or CSV',
    'offerbook import transactions sales.csv --org acme',
  )
    .option('--org <name>', 'organisation of the transactions; not needed if every row has a clickId')
    .option(
      '--unattributed <file>',
      'append rows with an unknown click to this file instead of rejecting them',
    )
    .option('--preserve-updated-at', "keep the file's updatedAt; only for loading history")
    .action(importTransactionsFile);
  return group('import', 'import a catalogue, links or transactions', [catalogue, links, transactions]);
}

function importOf(name: string, description: string, formats: string, example: string): Command {
  return jsonCommand(name, description, example)
    .argument('<file>', `${formats}, plain, .gz or .zst; - is stdin`)
    .option('--dry-run', 'print what would change; change nothing')
    .option('--skip-invalid', 'import the valid rows and list the invalid ones')
    .option('--allow-empty', 'accept an input without rows')
    .option('--ignore-unknown', 'ignore unknown fields')
    .option('--by <name>', 'name of the importer, for the import log (default: user@host)', parseName('--by'))
    .option('--source <name>', 'origin of the data, for the import log', parseName('--source'));
}

/** An import that replaces the existing data: items missing from the file are withdrawn. */
function importOfWhole(name: 'catalogue' | 'links', ...rest: [string, string, string]): Command {
  const nouns = `${NOUNS[name]}s`;
  return importOf(name, ...rest)
    .option('--merge', 'add and update only; withdraw nothing')
    .option(
      '--max-withdrawals <percent>',
      `reject a file that withdraws more than this percentage of the ${nouns} (default: 10, or 50 if there are at most 100 ${nouns})`,
      parseCount('--max-withdrawals', 0, 100),
    )
    .option('--allow-withdrawals', `allow any number of withdrawals`);
}

async function importTransactionsFile(file: string, options: ImportCommandOptions): Promise<void> {
  using unattributed = openUnattributedFile(options.unattributed, file);
  await runImport('transactions', file, options, (stores, source, how, org) =>
    importTransactions(stores, org, source, systemClock, { ...how, unattributed }),
  );
}

/** Warns if the change clock is in the future. That affects every later import, because stamps never decrease. */
async function warnOfClock(stores: Stores): Promise<void> {
  const leadMs = await stores.clockLeadMs();
  if (leadMs <= CLOCK_LEAD_MAX_MS) return;
  printNote(
    `offerbook: this machine's clock is ${Math.round(leadMs / 1_000)} s ahead of the database's. This import and all later imports get stamps in the future; synchronise the clock.`,
  );
}

/** Runs the import and prints its report. With --json, also prints a report if invalid rows stopped the import. */
async function runImport(
  kind: ImportKind,
  file: string,
  options: ImportCommandOptions,
  work: (
    stores: Stores,
    source: ImportSource,
    how: ImportCommandOptions,
    org: Organisation | undefined,
  ) => Promise<ImportReport>,
): Promise<void> {
  const source = await openSource(file);
  try {
    await using stores = await openForWriting(options, databaseOptions(kind, options));
    const org =
      options.org === undefined ? undefined : await getOrganisation(stores, options.org, 'to write');
    if (kind === 'transactions') await warnOfClock(stores);
    const origin: ImportOrigin = {
      kind,
      orgId: org?.id ?? null,
      by: options.by ?? currentUser(),
      source: options.source ?? null,
      fileName: basename(source.name),
      version: VERSION,
    };
    const report = await withProgressBar((onProgress) => {
      const run = (importId?: number) => work(stores, source, { ...options, importId, onProgress }, org);
      // A dry run changes nothing, so it gets no entry in the import log and no span.
      if (options.dryRun === true) return run();
      return traced(options, kind, () => recordImport(stores.imports, origin, source, run));
    });
    await printReport(options, report, NOUNS[kind]);
  } catch (error) {
    if (error instanceof InvalidRows && options.json === true) {
      const kept = { added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0 };
      // Ignore a failed write: stderr and the exit code still report the failure.
      await printResult(options, toJson({ ...error.report, ...kept }), '').catch(() => {});
    }
    throw error;
  }
}

/** The first catalogue import creates the database, but a dry run must not. */
function databaseOptions(kind: ImportKind, { dryRun }: ImportCommandOptions): DatabaseOptions {
  if (dryRun === true) return DRY_RUN_OPTIONS;
  return kind === 'catalogue' ? CREATE_OPTIONS : COMMAND_OPTIONS;
}

function traced(
  options: StoreOptions,
  kind: ImportKind,
  run: () => Promise<ImportReport>,
): Promise<ImportReport> {
  return traceCommand(options.database, `import ${kind}`, async (span) => {
    const report = await run();
    if (span !== undefined)
      for (const count of COUNTS) span.attributes[`offerbook.import.${count}`] = report[count];
    return report;
  });
}

function parseName(option: string): (text: string) => string {
  return (text) => {
    if (text.trim() === '' || text.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(text)) {
      throw new BadInput(`${option} must be 1–${NAME_LENGTH_MAX} characters, without control characters`);
    }
    return text;
  };
}

async function printReport(options: ImportCommandOptions, report: ImportReport, noun: string): Promise<void> {
  for (const line of printProblems(report)) printNote(line);
  for (const note of report.notes) printNote(note);
  const { read, added, changed, unchanged, stale, withdrawn, invalid, aside, seconds } = report;
  const counts: [number, string][] = [
    [added, 'added'],
    [changed, 'changed'],
    [unchanged, 'unchanged'],
  ];
  if (noun !== 'transaction') counts.push([withdrawn, 'withdrawn']);
  if (stale > 0) counts.push([stale, 'older than stored']);
  if (invalid > 0) counts.push([invalid, 'invalid']);
  if (aside > 0) counts.push([aside, 'set aside']);
  const outcome = counts.map(([count, what]) => `${printCount(count)} ${what}`).join(', ');
  const imported = read - stale - invalid - aside;
  const rows = (imported < read ? `${printCount(imported)} of ` : '') + printCountOf(read, noun);
  const done = options.dryRun === true ? 'Dry run, nothing was changed. Would import' : 'Imported';
  await printResult(options, toJson(report), `${done} ${rows}: ${outcome} (${seconds.toFixed(1)} s).`);
}

function toJson(report: ImportReport) {
  const fields = [...COUNTS, 'aside', 'seconds'] as const;
  return Object.fromEntries(fields.map((field) => [field, report[field]]));
}
