// Converts a network's catalogue: reads all files, joins their facts, and writes retailers for `offerbook import catalogue`
// to a spool.

import { Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { ConvertOptions, ConvertReport, RowSpool } from '../convert-report.ts';
import { ConvertRun, type FeedPlace } from '../convert-run.ts';
import { Fields } from '../fields.ts';
import type { FeedRow } from '../formats/feed-row.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { CatalogueFeed } from '../network.ts';
import { FactBook, type RetailerFacts } from './fact-book.ts';
import { idOf } from './facts.ts';
import { addDeal, type CatalogueRules, type Deals, toRetailer } from './to-retailer.ts';

export interface CatalogueFile {
  readonly feed: CatalogueFeed;
  /** Command-line option that names the file, such as `commission-groups`. */
  readonly name: string;
  readonly source: ImportSource;
  /** Set on the command line if the file does not contain the advertiser's id. */
  readonly advertiserId: string | undefined;
}

export async function convertCatalogue(
  files: readonly CatalogueFile[],
  rules: CatalogueRules,
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const run = new ConvertRun(
    files.map(({ source }) => source),
    options,
  );
  const facts = new FactBook(files.some(({ feed }) => feed.listsPartners === true));
  /** Keyed by option, and by advertiser id if the command line sets it. */
  const pages = new Map<string, PageCheck>();
  for (const file of files) {
    const option = file.advertiserId === undefined ? file.name : `${file.name} ${file.advertiserId}=…`;
    const check = pages.get(option) ?? new PageCheck();
    pages.set(option, check);
    for await (const rows of run.rows(file.source, file.feed.shape, check)) {
      for (const row of rows) readRow(row, file, rules.source.timeZone, run, facts);
    }
  }
  requireAllPages(pages);
  writeRetailers(run, facts, rules, spool);
  run.requireValid();
  await spool.flush();
  return run.report;
}

function readRow(row: FeedRow, file: CatalogueFile, zone: string, run: ConvertRun, facts: FactBook): void {
  const place: FeedPlace = { ...row.place, file: file.source.name };
  if (row.problem !== undefined) {
    run.reject(place, undefined, [row.problem]);
    return;
  }
  const fields = new Fields(row.value, zone);
  const found = file.feed.readFacts(fields, file.advertiserId, row.format);
  if (fields.problems.length > 0) {
    const partProblems = found.flatMap((fact) => (fact.kind === 'invalid' ? fact.problems : []));
    run.reject(place, idOf(found), [...fields.problems, ...partProblems]);
    return;
  }
  for (const fact of found) {
    if (fact.kind === 'left out') run.leaveOut(fact.what);
    else if (fact.kind === 'invalid') run.reject(place, fact.id, fact.problems);
    else facts.add(fact, place);
  }
}

/** The output is the whole catalogue, so an import would withdraw the items of a missing page. */
function requireAllPages(pages: ReadonlyMap<string, PageCheck>): void {
  const missing = [...pages].filter(([, check]) => check.isPageMissing).map(([name]) => `--${name}`);
  if (missing.length === 0) return;
  throw new Refused(
    `a page of ${missing.join(', ')} is missing: a response announces more rows than the files contain; nothing was converted, because an import would withdraw the missing items`,
  );
}

function writeRetailers(run: ConvertRun, facts: FactBook, rules: CatalogueRules, spool: RowSpool): void {
  for (const { place, id } of facts.conflicts()) {
    run.reject(place, id, [{ field: '', reason: 'appears twice with different contents' }]);
  }
  const retailers = facts.retailers();
  for (const { kind } of facts.dealsWithout(retailers)) {
    run.leaveOut(`${kind}s of advertisers that are not among the retailers`);
  }
  const lines = retailers.flatMap((retailer) => convertRetailer(retailer, rules, run));
  lines.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { document } of lines) spool.append(document);
  run.counts.written = lines.length;
  if (run.counts.invalid > 0) {
    run.notes.push(
      'An import withdraws everything that is missing from this output, unless you add --merge.',
    );
  }
}

function convertRetailer(
  { fact, place, deals }: RetailerFacts,
  rules: CatalogueRules,
  run: ConvertRun,
): { id: string; document: string }[] {
  const lists: Deals = { cashbackOffers: [], coupons: [], promotions: [] };
  for (const deal of deals) {
    const problems = addDeal(deal.fact, fact, lists, rules);
    if (problems.length > 0) run.reject(deal.place, deal.fact.id, problems);
  }
  const made = toRetailer(fact, lists, rules);
  if (made.problems === undefined) return [made.value];
  run.reject(place, fact.advertiserId, made.problems);
  return [];
}
