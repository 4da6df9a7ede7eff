// Reads the facts of all catalogue files of a network.

import { Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { type ConvertOptions, ConvertRun } from '../convert-run.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { CatalogueFeed } from '../network.ts';
import type { Source } from '../source/source-file.ts';
import { FactBook } from './fact-book.ts';

export interface CatalogueFile {
  readonly feed: CatalogueFeed;
  /** Command-line option that names the file, such as `commission-groups`. */
  readonly name: string;
  readonly source: ImportSource;
  /** Set on the command line if the file does not contain the advertiser's id. */
  readonly advertiserId: string | undefined;
}

/** Invalid and contradictory facts are reported to `run` and left out. Throws if a page is missing. */
export async function readFacts(
  files: readonly CatalogueFile[],
  { timeZone }: Source,
  options: ConvertOptions,
): Promise<{ run: ConvertRun; facts: FactBook }> {
  const sources = files.map(({ source }) => source);
  const run = new ConvertRun(sources, options);
  const feeds = files.map(({ feed }) => feed);
  const facts = new FactBook(run, timeZone, feeds);
  /** Keyed by option, and by advertiser id if the command line sets it. */
  const pages = new Map<string, PageCheck>();
  for (const { feed, name, source, advertiserId } of files) {
    const option = advertiserId === undefined ? name : `${name} ${advertiserId}=…`;
    const check = pages.get(option) ?? new PageCheck();
    pages.set(option, check);
    for await (const rows of run.rows(source, feed.shape, check)) {
      for (const row of rows) facts.addRow(row, feed, advertiserId, source.name);
    }
  }
  requireAllPages(pages);
  facts.rejectConflicts();
  return { run, facts };
}

/** The output is the whole catalogue, so an import would withdraw the items of a missing page. */
function requireAllPages(pages: ReadonlyMap<string, PageCheck>): void {
  const missing = [...pages].filter(([, check]) => check.isPageMissing).map(([name]) => `--${name}`);
  if (missing.length === 0) return;
  throw new Refused(
    `a page of ${missing.join(', ')} is missing: a response announces more rows than the files contain; nothing was converted, because an import would withdraw the missing items`,
  );
}
