// Converts a network's retailers to links: reads the catalogue files, and writes a row for `offerbook import links` for each
// retailer to a spool.

import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import type { RetailerFact } from '../catalogue/facts.ts';
import { type CatalogueFile, readFacts } from '../catalogue/read-facts.ts';
import {
  type ConvertOptions,
  type ConvertReport,
  type ConvertRun,
  type RowSpool,
  WITHDRAWAL_NOTE,
} from '../convert-run.ts';
import { deriveId } from '../derive-id.ts';
import { linkOf, type Source } from '../source/source-file.ts';

/** `link` is the source file's link. */
export async function convertLinks(
  files: readonly CatalogueFile[],
  source: Source,
  link: string,
  spool: RowSpool,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const { run, facts } = await readFacts(files, source, options);
  const rows = facts.retailers().map(({ fact }) => ({
    retailerId: deriveId(source, 'retailer', fact.advertiserId),
    template: linkOf(link, fact.advertiserId),
    domains: domainsOf(fact, run),
  }));
  rows.sort((a, b) => (a.retailerId < b.retailerId ? -1 : 1));
  for (const row of rows) spool.append(JSON.stringify(row));
  run.counts.written = rows.length;
  if (run.counts.invalid > 0) run.notes.push(WITHDRAWAL_NOTE);
  return run.finish(spool);
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
