// offerbook convert: converts files from affiliate networks to import files. It neither contacts a network nor opens a
// database.

import {
  type CatalogueFile,
  convertCatalogue,
  convertLinks,
} from '@offerbook/feeds/catalogue/convert-catalogue.ts';
import { ConversionFailed, type ConvertOptions, type ConvertReport } from '@offerbook/feeds/convert-run.ts';
import type { NetworkFeeds } from '@offerbook/feeds/network.ts';
import { openFeeds } from '@offerbook/feeds/networks.ts';
import { exampleSource } from '@offerbook/feeds/source/example-source.ts';
import { NETWORK_NAMES, type NetworkName, type Source } from '@offerbook/feeds/source/source-file.ts';
import { convertTransactions } from '@offerbook/feeds/transactions/convert-transactions.ts';
import { readCouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput, FaultFound } from '@offerbook/wire/failures.ts';
import { openSource } from '@offerbook/wire/rows/import-source.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { newUuid } from '@offerbook/wire/uuid.ts';
import { type Command, Option } from 'commander';
import { systemClock } from '../../../domain/clock.ts';
import { group, plainCommand } from '../../command.ts';
import { collect } from '../../option-values.ts';
import { print, printNote } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';
import { RowFile } from './row-file.ts';
import { readSourceFile } from './source-files.ts';

/** Input files for a catalogue, each with its own option. Each network supports some of them. */
const CATALOGUE_FILES = {
  programmes: 'Awin: programmes',
  'commission-groups': 'Awin: commission groups, one response per programme',
  campaigns: 'impact.com, Partnerize: campaigns',
  contracts: 'impact.com: contracts',
  'promo-codes': 'impact.com: promo codes',
  deals: 'impact.com: deals',
  commissions: 'Partnerize: active commissions, as CAMPAIGN=FILE',
  vouchers: 'Partnerize: voucher codes, as CAMPAIGN=FILE or FILE',
  advertisers: 'CJ, Rakuten: advertisers',
  links: 'CJ: links',
  partnerships: 'Rakuten: partnerships',
  offers: 'Awin, Rakuten, table: offers',
  coupons: 'Rakuten, table: coupons',
  promotions: 'table: promotions',
  retailers: 'table: retailers',
};
const CATALOGUE_OPTIONS = Object.entries(CATALOGUE_FILES).map(
  ([name, description]) => new Option(`--${name} <file...>`, description),
);

type CatalogueOptions = ConvertCommandOptions & Readonly<Record<string, unknown>>;

interface ConvertCommandOptions {
  readonly from?: string;
  readonly source: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly skipInvalid?: boolean;
}

export function convertCommand(): Command {
  const transactions = convertOf(
    'transactions',
    "convert a network's sales to a file for offerbook import transactions",
    'offerbook convert transactions --from awin --source awin.json sales.json --out rows.ndjson && offerbook import transactions rows.ndjson --org acme',
  )
    .argument('<file...>', 'API responses or exports from the network, plain, .gz or .zst; - is stdin')
    .option('--org <name>', 'organisation to convert, if sub-ids contain the organisation')
    .option(
      '--catalogue <file>',
      'converted or exported catalogue, used to find coupons by code; may be repeated',
      collect,
    )
    .action(convertTransactionFiles);
  const catalogue = convertOf(
    'catalogue',
    "convert a network's programmes and offers to a file for offerbook import catalogue",
    'offerbook convert catalogue --from awin --source awin.json --programmes p.json --offers o.json',
  ).action(convertCatalogueFiles);
  const links = convertOf(
    'links',
    "convert a network's retailers to a file for offerbook import links, with their domains",
    'offerbook convert links --from awin --source awin.json --programmes p.json',
  ).action(convertLinkFiles);
  for (const option of CATALOGUE_OPTIONS) for (const command of [catalogue, links]) command.addOption(option);
  const commands = [transactions, catalogue, links];
  const example = new Option('--example <network>', 'print an example source file for this network');
  return group('convert', 'convert files from affiliate networks to import files', commands)
    .addOption(example.choices(NETWORK_NAMES))
    .action(printExample);
}

function convertOf(name: string, description: string, example: string): Command {
  return plainCommand(name, description, example)
    .option('--from <network>', 'network; rejects a source file for another network')
    .requiredOption(
      '--source <file>',
      'source file: the settings for a network account; see offerbook convert --example awin',
    )
    .option('--out <file>', 'output file, written only if the conversion succeeds (default: stdout)')
    .option('--json', 'print the report as one JSON document')
    .option('--skip-invalid', 'convert the valid rows and list the invalid ones');
}

async function printExample({ example }: { example?: NetworkName }, command: Command): Promise<void> {
  if (example === undefined) return command.help({ error: true });
  await print(`${JSON.stringify(exampleSource(example, newUuid()), null, 2)}\n`);
}

async function convertTransactionFiles(
  paths: readonly string[],
  options: ConvertCommandOptions & { org?: string; catalogue?: readonly string[] },
): Promise<void> {
  const { source, overlay, network } = await openFeed(options);
  if (network.transactions === undefined) throw new BadInput(`${options.source} has no "transactions"`);
  requireOrganisation(source, options.org);
  const rules = {
    source,
    overlay,
    coupons:
      options.catalogue && (await readCouponCodes(await Promise.all(options.catalogue.map(openSource)))),
    organisation: options.org,
  };
  const files = await Promise.all(paths.map(openSource));
  const { transactions } = network;
  await convert(options, 'transaction', (rows, how) =>
    convertTransactions(transactions, rules, files, rows, how),
  );
}

function requireOrganisation(source: Source, org: string | undefined): void {
  if (source.subId !== 'org-uid') {
    if (org !== undefined) throw new BadInput('--org is for sources whose subId is org-uid');
  } else if (org === undefined) {
    throw new BadInput(
      "missing --org <name>: this source's sub-ids contain organisations, and each conversion handles only one",
    );
  } else if (org.includes(source.separator ?? '')) {
    throw new BadInput(`--org must not contain the separator ${JSON.stringify(source.separator)}`);
  }
}

async function convertCatalogueFiles(options: CatalogueOptions): Promise<void> {
  const { source, overlay, network } = await openFeed(options);
  const files = await openCatalogueFiles(options, network, source.network);
  await convert(options, 'retailer', (rows, how) => convertCatalogue(files, { source, overlay }, rows, how));
}

async function convertLinkFiles(options: CatalogueOptions): Promise<void> {
  const { source, network } = await openFeed(options);
  const { link } = source;
  if (link === undefined)
    throw new BadInput(`${options.source} has no "link": the URL for clicks, with {advertiser} and {click}`);
  const files = await openCatalogueFiles(options, network, source.network);
  await convert(options, 'link', (rows, how) => convertLinks(files, source, link, rows, how));
}

async function openCatalogueFiles(
  options: CatalogueOptions,
  { catalogue }: NetworkFeeds,
  networkName: NetworkName,
): Promise<CatalogueFile[]> {
  const allowed = Object.keys(catalogue).map((name) => `--${name}`);
  const files: CatalogueFile[] = [];
  for (const option of CATALOGUE_OPTIONS) {
    const name = option.name();
    const paths = options[option.attributeName()];
    if (!Array.isArray(paths)) continue;
    const feed = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
    if (feed === undefined) {
      throw new BadInput(
        `--${name} does not apply to ${networkName}; its options are ${allowed.join(', ') || 'none'}`,
      );
    }
    for (const path of paths as string[]) {
      const [advertiserId, file] = feed.advertiser === undefined ? [undefined, path] : splitPath(path);
      if (advertiserId === undefined && feed.advertiser === 'needed') {
        throw new BadInput(`--${name} needs the campaign's id: --${name} ID=${path}`);
      }
      files.push({ feed, name, source: await openSource(file), advertiserId });
    }
  }
  if (files.length === 0) throw new BadInput(`no files to convert; specify them with ${allowed.join(', ')}`);
  return files;
}

function splitPath(path: string): readonly [string | undefined, string] {
  const at = path.indexOf('=');
  return at < 1 ? [undefined, path] : [path.slice(0, at), path.slice(at + 1)];
}

async function openFeed(options: ConvertCommandOptions) {
  const { source, overlay } = await readSourceFile(options.source);
  if (options.from !== undefined && options.from !== source.network) {
    throw new BadInput(`${options.source} is for ${source.network}, not for ${options.from}`);
  }
  return { source, overlay, network: openFeeds(source, systemClock()) };
}

async function convert(
  options: ConvertCommandOptions,
  noun: 'transaction' | 'retailer' | 'link',
  work: (rows: RowFile, options: ConvertOptions) => Promise<ConvertReport>,
): Promise<void> {
  using rows = new RowFile(options.out);
  try {
    const { skipInvalid } = options;
    const report = await withProgressBar((onProgress) => work(rows, { skipInvalid, onProgress }));
    await rows.print();
    await printReport(options, report, noun);
  } catch (error) {
    if (!(error instanceof ConversionFailed) || options.json !== true) throw error;
    await printOutcome(options, JSON.stringify(toJson(error.report)));
    // Without --out, stderr must contain only the JSON document, which already lists the problems.
    throw options.out === undefined ? new FaultFound(error.message, 2) : error;
  }
}

function printReport(options: ConvertCommandOptions, report: ConvertReport, noun: string): Promise<void> {
  if (options.json !== true || options.out !== undefined) {
    for (const line of [...printProblems(report), ...report.notes]) printNote(line);
  }
  const { read, written, invalid, seconds } = report;
  const bad = invalid > 0 ? `, ${printCount(invalid)} invalid` : '';
  const summary = `Converted ${printCountOf(read, 'row')} to ${printCountOf(written, noun)}${bad} (${seconds.toFixed(1)} s).`;
  return printOutcome(options, options.json === true ? JSON.stringify(toJson(report)) : summary);
}

/** Prints the outcome to stdout, or to stderr if the rows went to stdout. */
async function printOutcome(options: ConvertCommandOptions, text: string): Promise<void> {
  if (options.out === undefined) printNote(text);
  else await print(`${text}\n`);
}

function toJson({ read, written, invalid, seconds, notes, problems }: ConvertReport) {
  return { read, written, invalid, seconds, notes, problems };
}
