// offerbook import: imports a catalogue, links or transactions from a file, all or nothing.

import { basename } from 'node:path';
import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { type ImportSource, openSource } from '@offerbook/wire/rows/import-source.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { Command } from 'commander';
import manifest from '../../../package.json';
import { ClickIds } from '../../activation/click-id.ts';
import { readTracingSettings } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';
import type { ImportKind, ImportOrigin } from '../../domain/import-log.ts';
import type { Stores } from '../../domain/stores.ts';
import type { Attributor } from '../../importer/attribution.ts';
import { importCatalogue } from '../../importer/import-catalogue.ts';
import { importLinks } from '../../importer/import-links.ts';
import {
  type ImportOptions,
  type ImportReport,
  InvalidRows,
  type WholeFileOptions,
} from '../../importer/import-report.ts';
import { importTransactions } from '../../importer/import-transactions.ts';
import { recordImport } from '../../importer/record-import.ts';
import type { DatabaseOptions } from '../../storage/database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, DRY_RUN_OPTIONS } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { currentUser } from '../current-user.ts';
import { openTracing } from '../open-tracing.ts';
import { printNote, printResult } from '../output.ts';
import { AsideFile } from './aside-file.ts';
import { parseCount } from './option-values.ts';
import { getOrganisation } from './organisations.ts';
import { withProgressBar } from './progress-bar.ts';

const NAME_LENGTH_MAX = 200;
/** Synchronised clocks differ by less. */
const CLOCK_LEAD_MAX_MS = 1_000;

/** The noun for a row of each import. */
const NOUNS = { catalogue: 'retailer', links: 'link', transactions: 'transaction' } as const;

interface ImportCommandOptions extends StoreOptions, Omit<ImportOptions, 'importId' | 'onProgress'> {
  readonly by?: string;
  readonly source?: string;
}

export function importCommand(): Command {
  const catalogue = importOfWhole(
    'catalogue',
    "replace the catalogue with the file's contents",
    'NDJSON or JSON',
    'offerbook import catalogue retailers.ndjson',
  ).action(importCatalogueFile);
  const links = importOfWhole(
    'links',
    'replace all activation links with those in the file',
    'NDJSON, JSON or CSV',
    'offerbook import links links.ndjson',
  ).action(importLinksFile);
  const transactions = importOf(
    'transactions',
    'add and update transactions; a row replaces the whole transaction: fields that it omits become null',
    'NDJSON, JSON or CSV',
    'offerbook import transactions sales.csv --org acme',
  )
    .option('--org <name>', 'organisation of the transactions; not needed if every row has a clickId')
    .option(
      '--unattributed <file>',
      'append rows whose click is unknown to this file instead of rejecting them',
    )
    .option('--preserve-updated-at', "keep the file's updatedAt, when loading history")
    .action(importTransactionsFile);
  return new Command('import')
    .description('import a catalogue, links or transactions')
    .addCommand(catalogue)
    .addCommand(links)
    .addCommand(transactions);
}

function importOf(name: string, description: string, formats: string, example: string): Command {
  return jsonCommand(name, description, example)
    .argument('<file>', `${formats}, plain, .gz or .zst; - is stdin`)
    .option('--dry-run', 'print what would change; change nothing')
    .option('--skip-invalid', 'import the valid rows and list the invalid ones')
    .option('--allow-empty', 'accept an input without rows')
    .option('--ignore-unknown', 'ignore unknown fields')
    .option('--by <name>', 'who imports, for the import log (default: user@host)', parseName('--by'))
    .option('--source <name>', 'where the data comes from, for the import log', parseName('--source'));
}

/** An import that replaces everything: items missing from the file are withdrawn. */
function importOfWhole(name: 'catalogue' | 'links', ...rest: [string, string, string]): Command {
  const nouns = `${NOUNS[name]}s`;
  return importOf(name, ...rest)
    .option('--merge', 'add and update only; withdraw nothing')
    .option(
      '--max-withdrawals <percent>',
      `reject a file that withdraws more than this share of the ${nouns} (default: 10, or 50 if there are at most 100 ${nouns})`,
      (text) => parseCount('--max-withdrawals', text, 0, 100),
    )
    .option('--allow-withdrawals', `allow any number of withdrawn ${nouns}`);
}

type WholeFileCommandOptions = ImportCommandOptions & WholeFileOptions;

async function importCatalogueFile(file: string, options: WholeFileCommandOptions): Promise<void> {
  const source = await openSource(file);
  // A dry run must not create a database.
  const databaseOptions = options.dryRun === true ? DRY_RUN_OPTIONS : CREATE_OPTIONS;
  const work = (stores: Stores) =>
    runImport(stores, { kind: 'catalogue', orgId: null }, source, options, (run) =>
      importCatalogue(stores.catalogue, source, { ...options, ...run }),
    );
  await withStores(options, work, databaseOptions);
}

async function importLinksFile(file: string, options: WholeFileCommandOptions): Promise<void> {
  const source = await openSource(file);
  const work = (stores: Stores) =>
    runImport(stores, { kind: 'links', orgId: null }, source, options, (run) =>
      importLinks(stores.links, source, { ...options, ...run }),
    );
  await withStores(options, work, optionsOf(options));
}

interface TransactionsFileOptions extends ImportCommandOptions {
  readonly org?: string;
  readonly unattributed?: string;
  readonly preserveUpdatedAt?: boolean;
}

async function importTransactionsFile(file: string, options: TransactionsFileOptions): Promise<void> {
  using aside = options.unattributed === undefined ? undefined : new AsideFile(options.unattributed, file);
  const source = await openSource(file);
  const work = async (stores: Stores) => {
    const org =
      options.org === undefined ? undefined : await getOrganisation(stores, options.org, 'to write');
    const ids = new ClickIds(await stores.clickKey());
    const attributor: Attributor = { ids, clicks: stores.clicks, aside };
    await warnOfClock(stores);
    await runImport(stores, { kind: 'transactions', orgId: org?.id ?? null }, source, options, (run) =>
      importTransactions(stores.transactions, org, source, systemClock, { ...options, ...run, attributor }),
    );
  };
  await withStores(options, work, optionsOf(options));
}

function optionsOf({ dryRun }: ImportCommandOptions): DatabaseOptions {
  return dryRun === true ? DRY_RUN_OPTIONS : COMMAND_OPTIONS;
}

/** Imports are stamped by this machine's clock, and stamps only rise: one in the future affects every later import. */
async function warnOfClock(stores: Stores): Promise<void> {
  const leadMs = await stores.clockLeadMs();
  if (leadMs <= CLOCK_LEAD_MAX_MS) return;
  printNote(
    `offerbook: this machine's clock is ${Math.round(leadMs / 1_000)} s ahead of the database's. This import, and all imports after it, get stamps in the future; synchronise the clock.`,
  );
}

/** Runs the import and prints its report. With --json, an import rejected for invalid rows prints a report as well. */
async function runImport(
  stores: Stores,
  what: Pick<ImportOrigin, 'kind' | 'orgId'>,
  source: ImportSource,
  options: ImportCommandOptions,
  work: (run: Pick<ImportOptions, 'importId' | 'onProgress'>) => Promise<ImportReport>,
): Promise<void> {
  const origin: ImportOrigin = {
    ...what,
    by: options.by ?? currentUser(),
    source: options.source ?? null,
    fileName: basename(source.name),
    version: manifest.version,
  };
  try {
    const report = await withProgressBar((onProgress) => {
      const run = (importId?: number) => work({ importId, onProgress });
      // A dry run changes nothing, so it gets no entry in the import log and no span.
      if (options.dryRun === true) return run();
      return traced(options, what.kind, () => recordImport(stores.imports, origin, source, run));
    });
    await printReport(options, report, NOUNS[what.kind]);
  } catch (error) {
    if (error instanceof InvalidRows && options.json === true) {
      const kept = { added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0 };
      // stderr and the exit code report the failure, even if the document cannot be written.
      await printResult(options, toJson({ ...error.report, ...kept }), '').catch(() => {});
    }
    throw error;
  }
}

async function traced(
  options: StoreOptions,
  kind: ImportKind,
  run: () => Promise<ImportReport>,
): Promise<ImportReport> {
  const tracing = openTracing(readTracingSettings(), {
    databaseUrl: options.database,
    onChange: (reason) =>
      reason && printNote(`offerbook: the collector rejected the span of this import: ${reason}`),
  });
  if (tracing === undefined) return run();
  try {
    return await tracing.tracer.trace(`import ${kind}`, async ({ attributes }) => {
      const report = await run();
      for (const count of ['read', 'added', 'changed', 'unchanged', 'stale', 'withdrawn', 'invalid'] as const)
        attributes[`offerbook.import.${count}`] = report[count];
      return report;
    });
  } finally {
    await tracing.exporter.close();
  }
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

function toJson({
  read,
  added,
  changed,
  unchanged,
  stale,
  withdrawn,
  invalid,
  aside,
  seconds,
}: ImportReport) {
  return { read, added, changed, unchanged, stale, withdrawn, invalid, aside, seconds };
}
