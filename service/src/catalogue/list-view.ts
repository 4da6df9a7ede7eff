// The lists as a request sees them: from one moment's state, which never changes afterwards, however the clock moves on
// and whatever is imported. A view finds the items of a page and has their texts written.

import { DEAL_LISTS, type DealList } from '../domain/deals.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Activity } from './activity.ts';
import type { OfferQuery, OfferSearch } from './search/offer-search.ts';
import { allBelow, firstAccepted, type Range } from './tables/ascending.ts';
import { Bitset } from './tables/bitset.ts';
import type { DealTable } from './tables/deal-table.ts';
import { type EncodedPage, type PageWriter, writePage } from './tables/page-writer.ts';
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
    return writeDeals(this.#search.select(query, range, query.limit + 1), query.limit, this.#table);
  }
}

/** The active deals of a list, without filters. */
export class DealsView implements ListView {
  readonly table: DealTable;
  readonly #activity: Activity;

  constructor(table: DealTable, activity: Activity) {
    this.table = table;
    this.#activity = activity;
  }

  /** By rank; undefined when all deals are active. */
  get active(): Bitset | undefined {
    return this.#activity.active;
  }

  holdsAt(nowMs: number): boolean {
    return this.#activity.holdsAt(nowMs);
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const range = rangeFrom(cursor, this.table.ids);
    const ranks = firstAccepted(this.active ?? allBelow(range.end), range, limit + 1);
    return writeDeals(ranks, limit, this.table);
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

  holdsAt(nowMs: number): boolean {
    return DEAL_LISTS.every((list) => this.#deals[list].holdsAt(nowMs));
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const { ids } = this.#retailers;
    const numbers = firstAccepted(this.#listed, rangeFrom(cursor, ids), limit + 1);
    return writePage(numbers, limit, ids, (retailer, writer) => this.#write(retailer, writer));
  }

  #write(retailer: number, writer: PageWriter): void {
    this.#retailers.writeHead(retailer, writer);
    for (const list of DEAL_LISTS) {
      const { table, active } = this.#deals[list];
      writer.add(`,"${list}":[`);
      table.writeEmbeddedForm(retailer, active, writer);
      writer.add(']');
    }
    writer.add('}');
  }
}

function addOwners({ table, active }: DealsView, retailers: Bitset): void {
  const { owners } = table.data;
  (active ?? allBelow(owners.length)).walk(0, (rank) => {
    retailers.add(owners[rank] as number);
    return true;
  });
}

function rangeFrom(cursor: Uuid | undefined, ids: UuidTable): Range {
  return { begin: cursor === undefined ? 0 : ids.firstAtOrAfter(cursor), end: ids.length };
}

function writeDeals(ranks: readonly number[], limit: number, table: DealTable): EncodedPage {
  return writePage(ranks, limit, table.ids, (rank, writer) => table.writeListForm(rank, writer));
}
