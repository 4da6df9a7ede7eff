// The lists as a request sees them: from one moment's state, which never changes afterwards, whatever the
// clock and later imports do. A view finds the items of a page and has their texts written.

import type { DealList } from '../domain/deals.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { OfferIndex } from './search/offer-index.ts';
import { type Bitset, firstCommon } from './tables/bitset.ts';
import type { DealTable } from './tables/deal-table.ts';
import { type EncodedPage, type PageWriter, writePage } from './tables/page-writer.ts';
import type { RetailerTable } from './tables/retailer-table.ts';
import type { UuidTable } from './tables/uuid-table.ts';

export type CatalogueListName = 'retailers' | DealList;

export interface CatalogueQuery {
  /** The page starts at the first selected item with an id at or after this one. */
  readonly cursor: Uuid | undefined;
  readonly limit: number;
  /** Part of the retailer's name, ignoring case and accents. This and the next two select cashback offers only. */
  readonly name?: string | undefined;
  /** The whole category, ignoring case and accents. */
  readonly category?: string | undefined;
  /** Two capital letters. */
  readonly country?: string | undefined;
}

export interface ListView {
  page(query: CatalogueQuery): EncodedPage;
}

export class OffersView implements ListView {
  readonly #table: DealTable;
  readonly #index: OfferIndex;

  constructor(table: DealTable, index: OfferIndex) {
    this.#table = table;
    this.#index = index;
  }

  page(query: CatalogueQuery): EncodedPage {
    const ranks = this.#index.select(query, position(this.#table.ids, query.cursor), query.limit + 1);
    return writePage(ranks, query.limit, this.#table.ids, (rank, writer) =>
      this.#table.writeListForm(rank, writer),
    );
  }
}

/** Coupons or promotions: the active ones. */
export class DatedDealsView implements ListView {
  readonly #table: DealTable;
  readonly #active: Bitset;

  constructor(table: DealTable, active: Bitset) {
    this.#table = table;
    this.#active = active;
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const range = { begin: position(this.#table.ids, cursor), end: this.#table.listedCount };
    const ranks = firstCommon([this.#active], range, limit + 1);
    return writePage(ranks, limit, this.#table.ids, (rank, writer) =>
      this.#table.writeListForm(rank, writer),
    );
  }
}

export interface RetailersViewParts {
  readonly retailers: RetailerTable;
  readonly listed: Bitset;
  readonly offers: DealTable;
  readonly coupons: DealTable;
  readonly activeCoupons: Bitset;
  readonly promotions: DealTable;
  readonly activePromotions: Bitset;
}

export class RetailersView implements ListView {
  readonly #parts: RetailersViewParts;

  constructor(parts: RetailersViewParts) {
    this.#parts = parts;
  }

  page({ cursor, limit }: CatalogueQuery): EncodedPage {
    const { retailers, listed } = this.#parts;
    const range = { begin: position(retailers.ids, cursor), end: retailers.count };
    const numbers = firstCommon([listed], range, limit + 1);
    return writePage(numbers, limit, retailers.ids, (retailer, writer) => this.#write(retailer, writer));
  }

  #write(retailer: number, writer: PageWriter): void {
    const { retailers, offers, coupons, activeCoupons, promotions, activePromotions } = this.#parts;
    retailers.writeHead(retailer, writer);
    writer.add(',"cashbackOffers":[');
    offers.writeEmbeddedForm(retailer, undefined, writer);
    writer.add('],"coupons":[');
    coupons.writeEmbeddedForm(retailer, activeCoupons, writer);
    writer.add('],"promotions":[');
    promotions.writeEmbeddedForm(retailer, activePromotions, writer);
    writer.add(']}');
  }
}

function position(ids: UuidTable, cursor: Uuid | undefined): number {
  return cursor === undefined ? 0 : ids.firstAtOrAfter(cursor);
}
