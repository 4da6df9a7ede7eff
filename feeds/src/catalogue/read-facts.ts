// Reads the facts of all catalogue files of a network.

import { Refused } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import type { ConvertRun, FeedPlace } from '../convert-run.ts';
import { Fields } from '../fields.ts';
import type { FeedRow } from '../formats/feed-row.ts';
import { PageCheck } from '../formats/page-check.ts';
import type { CatalogueFeed } from '../network.ts';
import { FactBook } from './fact-book.ts';
import { idOf } from './facts.ts';

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
  timeZone: string,
  run: ConvertRun,
): Promise<FactBook> {
  const facts = new FactBook(files.some(({ feed }) => feed.listsPartners === true));
  /** Keyed by option, and by advertiser id if the command line sets it. */
  const pages = new Map<string, PageCheck>();
  for (const file of files) {
    const option = file.advertiserId === undefined ? file.name : `${file.name} ${file.advertiserId}=…`;
    const check = pages.get(option) ?? new PageCheck();
    pages.set(option, check);
    for await (const rows of run.rows(file.source, file.feed.shape, check)) {
      for (const row of rows) addFacts(row, file, file.source.name, timeZone, run, facts);
    }
  }
  requireAllPages(pages);
  rejectConflicts(facts, run);
  return facts;
}

export function rejectConflicts(facts: FactBook, run: ConvertRun): void {
  for (const { place, id } of facts.conflicts()) {
    run.reject(place, id, [{ field: '', reason: 'appears twice with different contents' }]);
  }
}

/** Adds the facts of one row. Its problems are reported to `run`. */
export function addFacts(
  row: FeedRow,
  file: Pick<CatalogueFile, 'feed' | 'advertiserId'>,
  fileName: string,
  zone: string,
  run: ConvertRun,
  facts: FactBook,
): void {
  const place: FeedPlace = { ...row.place, file: fileName };
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
