// Interface for fetching a network's catalogue: which lists to read, and how to continue after each page. Implementations are
// pure. Retailers and deals that are missing from a complete catalogue are withdrawn, so a response that does not indicate
// whether more pages follow is an error, never the last page.

import type { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { type PullRequest, unexpected } from './network-access.ts';
import type { PageRules, PulledPage } from './pulled-page.ts';

export interface CataloguePull {
  /** Lists that cover the whole account. Together, they contain all its retailers. */
  readonly lists: readonly CatalogueList[];
  /** Returns the lists that cover only one retailer. Undefined if the network has no such lists. */
  listsOf?(advertiserId: string): readonly CatalogueList[];
}

export interface CatalogueList extends PageRules {
  /** The feed that converts its rows: a key of the network's `catalogue`. */
  readonly feed: string;
  /** Set if all rows must belong to this advertiser. */
  readonly advertiserId?: string;
  request(position: string | undefined): PullRequest;
  /** Returns the position of the next page; undefined after the last page. */
  next(page: CataloguePage, position: string | undefined): string | undefined;
}

export interface CataloguePage extends PulledPage {
  /** Rows of this page and all pages before it. */
  readonly rowsRead: number;
}

/** A list that is one response. */
export const onePage = { next: () => undefined };

/** A list with numbered pages. The position is the page number. Some networks count from 0, others from 1. */
export const numberedPages: Pick<CatalogueList, 'next'> = {
  next: ({ info, rowCount, rowsRead }, position) => {
    const { page, hasMore, count = rowCount, total } = info;
    const isExpected = position === undefined ? page === 0 || page === 1 : page === Number(position);
    if (page === undefined || !isExpected) throw incomplete(`is not page ${position ?? 1}`);
    if (count !== rowCount) throw incomplete(`has ${rowCount} rows instead of ${count}`);
    if (hasMore === undefined && total === undefined)
      throw incomplete('does not indicate whether more pages follow');
    const isAnnounced = hasMore ?? rowsRead < (total ?? 0);
    if (rowCount > 0) return isAnnounced ? String(page + 1) : undefined;
    // The last page with rows may link to another, empty page.
    if (isAnnounced && rowsRead < (total ?? rowsRead + 1))
      throw incomplete('has no rows, although more rows follow');
    return undefined;
  },
};

function incomplete(reason: string): BrokenFile {
  return unexpected('the response', reason);
}
