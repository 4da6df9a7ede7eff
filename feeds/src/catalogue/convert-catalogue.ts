// Converts a network's catalogue: reads all files, joins their facts, and writes retailers for `offerbook import catalogue`, or a
// link for each retailer for `offerbook import links`, to a spool.

import { Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { type ConvertOptions, type ConvertReport, ConvertRun, type RowSpool } from '../convert-run.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { CatalogueFeed } from '../network.ts';
import { openShares } from '../source/share.ts';
import { deriveId, linkOf, type Source } from '../source/source-file.ts';
import { type FactBook, factBook, type RetailerFacts } from './fact-book.ts';
import type { RetailerFact } from './facts.ts';
import { addDeal, type CatalogueRules, type DealRules, type Deals, toRetailer } from './to-retailer.ts';

export interface CatalogueFile {
  readonly feed: CatalogueFeed;
  /** Command-line option that names the file, such as `commission-groups`. */
  readonly name: string;
  readonly source: ImportSource;
  /** Set on the command line if the file does not contain the advertiser's id. */
  readonly advertiserId: string | undefined;
}

export function convertCatalogue(
  files: readonly CatalogueFile[],
  rules: CatalogueRules,
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  return convertFacts(files, rules.source, spool, options, (run, facts) =>
    writeRetailers(run, facts, rules, spool),
  );
}

/** `link` is the source file's link. */
export function convertLinks(
  files: readonly CatalogueFile[],
  source: Source,
  link: string,
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  return convertFacts(files, source, spool, options, (run, facts) => {
    const rows = facts.retailers().map(({ fact }) => ({
      retailerId: deriveId(source, 'retailer', fact.advertiserId),
      template: linkOf(link, fact.advertiserId),
      domains: domainsOf(fact, run),
    }));
    rows.sort((a, b) => (a.retailerId < b.retailerId ? -1 : 1));
    for (const row of rows) spool.append(JSON.stringify(row));
  });
}

/** Invalid and contradictory facts are reported and left out. Throws if a page is missing. */
async function convertFacts(
  files: readonly CatalogueFile[],
  { timeZone }: Source,
  spool: RowSpool,
  options: ConvertOptions,
  write: (run: ConvertRun, facts: FactBook) => void,
): Promise<ConvertReport> {
  const sources = files.map(({ source }) => source);
  const run = new ConvertRun(sources, options);
  const feeds = files.map(({ feed }) => feed);
  const facts = factBook(run, timeZone, feeds);
  /** Keyed by option, and by advertiser id if the command line sets it. */
  const pages = new Map<string, PageCheck>();
  for (const { feed, name, source, advertiserId } of files) {
    const option = advertiserId === undefined ? name : `${name} ${advertiserId}=…`;
    const check = pages.getOrInsertComputed(option, () => new PageCheck());
    for await (const rows of run.rows(source, feed.shape, check)) {
      for (const row of rows) facts.addRow(row, feed, advertiserId, source.name);
    }
  }
  requireAllPages(pages);
  facts.rejectConflicts();
  write(run, facts);
  if (run.counts.invalid > 0)
    run.notes.push(
      'An import withdraws everything that is missing from this output, unless you add --merge.',
    );
  return run.finish(spool);
}

/** The output is the whole catalogue, so an import would withdraw the items of a missing page. */
function requireAllPages(pages: ReadonlyMap<string, PageCheck>): void {
  const missing = [...pages].filter(([, check]) => check.isPageMissing).map(([name]) => `--${name}`);
  if (missing.length === 0) return;
  throw new Refused(
    `a page of ${missing.join(', ')} is missing: a response announces more rows than the files contain; nothing was converted, because an import would withdraw the missing items`,
  );
}

/** Appends the retailers to the spool, sorted by id. */
export function writeRetailers(
  run: ConvertRun,
  facts: FactBook,
  rules: CatalogueRules,
  spool: RowSpool,
): void {
  const retailers = facts.retailers();
  for (const { kind } of facts.dealsWithout(retailers)) {
    run.leaveOut(`${kind}s of advertisers that are not among the retailers`);
  }
  const shares = openShares(rules.source, rules.overlay);
  const lines = retailers.flatMap((retailer) => convertRetailer(retailer, { ...rules, shares }, run));
  lines.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { document } of lines) spool.append(document);
}

function convertRetailer(
  { fact, place, deals }: RetailerFacts,
  rules: DealRules,
  run: ConvertRun,
): { id: string; document: string }[] {
  const lists: Deals = { cashbackOffers: [], coupons: [], promotions: [] };
  for (const deal of deals) {
    const problems = addDeal(deal.fact, fact, lists, rules);
    if (problems.length > 0) run.reject(deal.place, deal.fact.id, problems);
  }
  const made = toRetailer(fact, lists, rules);
  if (made.problems === undefined) return [made];
  run.reject(place, fact.advertiserId, made.problems);
  return [];
}

/** Returns the domains besides that of the retailer's URL. */
function domainsOf({ url, domains = [] }: RetailerFact, run: ConvertRun): string[] {
  const found = new Set<string>();
  for (const text of domains) {
    // Networks mix hostnames, wildcards and URLs.
    const domain = parseSiteDomain(URL.parse(text)?.hostname || text.replace(/^\*\./, ''));
    if (domain !== undefined) found.add(domain);
    else run.leaveOut('domains that are public suffixes or not valid');
  }
  found.delete(parseSiteDomain(URL.parse(url)?.hostname ?? '') ?? '');
  return [...found].sort();
}
