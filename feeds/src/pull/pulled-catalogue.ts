// Converts the responses of a catalogue pull to retailers for the import. A page's rows are added only after the whole page has
// been read, because a truncated response is requested again.

import { writeRetailers } from '../catalogue/convert-catalogue.ts';
import { type FactBook, factBook } from '../catalogue/fact-book.ts';
import type { CatalogueRules } from '../catalogue/to-retailer.ts';
import { type ConvertOptions, type ConvertReport, ConvertRun, type RowSpool } from '../convert-run.ts';
import type { FeedRow } from '../formats/feed-row.ts';
import type { CatalogueFeed, NetworkFeeds } from '../network.ts';
import type { CatalogueList, CataloguePage } from './network-pull.ts';
import { readPage } from './read-page.ts';

/** The rows of a page, and how the walk continues. */
export type CatalogueRows = Awaited<ReturnType<PulledCatalogue['read']>>;

export class PulledCatalogue {
  readonly #feeds: NetworkFeeds['catalogue'];
  readonly #rules: CatalogueRules;
  readonly #run: ConvertRun;
  readonly #facts: FactBook;

  constructor(network: NetworkFeeds, rules: CatalogueRules, options: ConvertOptions) {
    this.#feeds = network.catalogue;
    this.#rules = rules;
    this.#run = new ConvertRun([], options);
    this.#facts = factBook(this.#run, rules.source.timeZone, Object.values(network.catalogue));
  }

  get rowCount(): number {
    return this.#run.counts.read;
  }

  /** The retailers in the lists that have been added so far. */
  get advertiserIds(): string[] {
    return this.#facts.retailers().map(({ fact }) => fact.advertiserId);
  }

  /** Throws BrokenFile if the response is truncated or is not the expected document. */
  async read(
    list: CatalogueList,
    at: { readonly position: string | undefined; readonly rowsBefore: number },
    body: AsyncIterable<Uint8Array>,
    header: CataloguePage['header'],
  ) {
    const rows: FeedRow[] = [];
    const { shape } = this.#feedOf(list);
    const page = await readPage(body, header, shape, list, (batch) => void rows.push(...batch));
    if (page === undefined) return { rows, next: undefined, total: 0 };
    const rowsRead = at.rowsBefore + page.rowCount;
    return { rows, next: list.next({ ...page, rowsRead }, at.position), total: page.info.total };
  }

  /** Adds the rows of a page. `name` identifies the page in messages. */
  add(list: CatalogueList, rows: readonly FeedRow[], name: string): void {
    this.#run.counts.read += rows.length;
    for (const row of rows) this.#facts.addRow(row, this.#feedOf(list), list.advertiserId, name);
  }

  /** Throws ConversionFailed if there are invalid rows, unless they are skipped. */
  async finish(spool: RowSpool): Promise<ConvertReport> {
    this.#facts.rejectConflicts();
    writeRetailers(this.#run, this.#facts, this.#rules, spool);
    return this.#run.finish(spool);
  }

  #feedOf({ feed: name }: CatalogueList): CatalogueFeed {
    const feed = this.#feeds[name];
    if (feed === undefined) throw new Error(`the network has no feed ${name}`);
    return feed;
  }
}
