// Converts a network's catalogue: reads all files, joins their facts, and writes retailers for `offerbook import catalogue`
// to a spool.

import {
  type ConvertOptions,
  type ConvertReport,
  type ConvertRun,
  type RowSpool,
  WITHDRAWAL_NOTE,
} from '../convert-run.ts';
import { Shares } from '../source/share.ts';
import type { FactBook, RetailerFacts } from './fact-book.ts';
import { type CatalogueFile, readFacts } from './read-facts.ts';
import { addDeal, type CatalogueRules, type DealRules, type Deals, toRetailer } from './to-retailer.ts';

export async function convertCatalogue(
  files: readonly CatalogueFile[],
  rules: CatalogueRules,
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const { run, facts } = await readFacts(files, rules.source, options);
  writeRetailers(run, facts, rules, spool);
  if (run.counts.invalid > 0) run.notes.push(WITHDRAWAL_NOTE);
  return run.finish(spool);
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
  const shares = new Shares(rules.source, rules.overlay);
  const lines = retailers.flatMap((retailer) => convertRetailer(retailer, { ...rules, shares }, run));
  lines.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { document } of lines) spool.append(document);
  run.counts.written = lines.length;
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
