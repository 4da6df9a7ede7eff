// The lists as a request sees them: from one moment's state, which never changes afterwards, however the clock moves on
// and whatever is imported. A view finds the items of a page and has their texts written.

import { DEAL_LISTS, type DealList } from '../domain/deals.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Activity } from './activity.ts';
import type { OfferQuery, OfferSearch } from './search/offer-search.ts';
import { allBelow, firstAccepted, type Range } from './tables/ascending.ts';
import { Bitset } from './tables/bitset.ts';
import type { DealTable } from './tables/deal-table.ts';
import { type EncodedPage, type PageItems, type PageWriter, writePage } from './tables/page-writer.ts';
import type { RetailerTable } from './tables/retailer-table.ts';
import type { UuidTable } from './tables/uuid-table.ts';

export type CatalogueListName = 'retailers' | DealList;

/** The fields of OfferQuery select cashback offers only; the other lists do not look at them. */
export type CatalogueQuery = OfferQuery & {
  /** The page starts at the first selected item with an id at or after this one. */
  readonly cursor: Uuid | undefined;
  readonly limit: number;
};

export interface ListView {
  page(query: CatalogueQuery): EncodedPage;
}

export class OffersView implements ListView {
  readonly #table: DealTable;
  readonly #search: OfferSearch;

  constructor(table: DealTable, search: OfferSearch) {
    this.#table = table;
    this.#search = search;
  }

  page(query: CatalogueQuery): EncodedPage {
    const range = rangeFrom(query.cursor, this.#table.ids);
    const ranks = this.#search.select(query, range, query.limit + 1);
    return writeDeals(ranks, query.limit, this.#table, () => Number.POSITIVE_INFINITY);
  }
}

/** The active deals of a list, without filters. */
export class DealsView implements ListView {
  readonly table: DealTable;
  readonly activity: Activity;

  constructor(table: DealTable, activity: Activity) {
    this.table = table;
    this.activity = activity;
  }

  get count(): number {
    return this.activity.active?.count() ?? this.table.ids.length;
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const range = rangeFrom(cursor, this.table.ids);
    const ranks = firstAccepted(this.activity.active ?? allBelow(range.end), range, limit + 1);
    return writeDeals(ranks, limit, this.table, (last = range.end - 1) => {
      let changesAtMs = Number.POSITIVE_INFINITY;
      for (let rank = range.begin; rank <= last; rank++)
        changesAtMs = Math.min(changesAtMs, this.activity.nextChangeMs(rank));
      return changesAtMs;
    });
  }

  /** When a deal of this retailer starts or ends next. */
  nextChangeOfMs(retailer: number): number {
    const { items, begins } = this.table.data.ranks;
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (let slot = begins[retailer] as number; slot < (begins[retailer + 1] as number); slot++)
      changesAtMs = Math.min(changesAtMs, this.activity.nextChangeMs(items[slot] as number));
    return changesAtMs;
  }
}

export class RetailersView implements ListView {
  readonly #retailers: RetailerTable;
  readonly #deals: Readonly<Record<DealList, DealsView>>;
  /** Those with an active deal. */
  readonly #listed: Bitset;

  constructor(retailers: RetailerTable, deals: Readonly<Record<DealList, DealsView>>) {
    this.#retailers = retailers;
    this.#deals = deals;
    this.#listed = new Bitset(retailers.ids.length);
    for (const list of DEAL_LISTS) addOwners(deals[list], this.#listed);
  }

  get count(): number {
    return this.#listed.count();
  }

  holdsAt(nowMs: number): boolean {
    return DEAL_LISTS.every((list) => this.#deals[list].activity.holdsAt(nowMs));
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const { ids } = this.#retailers;
    const range = rangeFrom(cursor, ids);
    return writePage({
      numbers: firstAccepted(this.#listed, range, limit + 1),
      limit,
      ids,
      writeItem: (retailer, writer) => this.#write(retailer, writer),
      // Retailers without a deal count, too: one that gets a deal is listed.
      changesAtMs: (last = range.end - 1) => this.#changesAtMs(range.begin, last),
    });
  }

  #changesAtMs(first: number, last: number): number {
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (let retailer = first; retailer <= last; retailer++) {
      for (const list of DEAL_LISTS)
        changesAtMs = Math.min(changesAtMs, this.#deals[list].nextChangeOfMs(retailer));
    }
    return changesAtMs;
  }

  #write(retailer: number, writer: PageWriter): void {
    this.#retailers.writeHead(retailer, writer);
    for (const list of DEAL_LISTS) {
      const { table, activity } = this.#deals[list];
      writer.add(`,"${list}":[`);
      table.writeEmbeddedForm(retailer, activity.active, writer);
      writer.add(']');
    }
    writer.add('}');
  }
}

function addOwners({ table, activity }: DealsView, retailers: Bitset): void {
  const { owners } = table.data;
  (activity.active ?? allBelow(owners.length)).walk(0, (rank) => {
    retailers.add(owners[rank] as number);
    return true;
  });
}

function rangeFrom(cursor: Uuid | undefined, ids: UuidTable): Range {
  return { begin: cursor === undefined ? 0 : ids.firstAtOrAfter(cursor), end: ids.length };
}

function writeDeals(
  numbers: readonly number[],
  limit: number,
  table: DealTable,
  changesAtMs: PageItems['changesAtMs'],
): EncodedPage {
  const writeItem = (rank: number, writer: PageWriter) => table.writeListForm(rank, writer);
  return writePage({ numbers, limit, ids: table.ids, writeItem, changesAtMs });
}
