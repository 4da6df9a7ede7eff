// The lists as a request sees them: from one moment's state, which never changes afterwards, whatever the
// clock and later imports do. A view finds the items of a page and puts their texts together.

import type { DealList } from '../domain/catalogue.ts';
import { cutPage, type Page } from '../domain/page.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type Bitset, firstCommon } from './bitset.ts';
import type { DealTable } from './deal-table.ts';
import type { OfferIndex } from './offer-index.ts';
import type { RetailerTable } from './retailer-table.ts';
import type { UuidTable } from './uuid-table.ts';

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
  /** The items are JSON texts. */
  page(query: CatalogueQuery): Page<string>;
}

export class OffersView implements ListView {
  readonly #table: DealTable;
  readonly #index: OfferIndex;

  constructor(table: DealTable, index: OfferIndex) {
    this.#table = table;
    this.#index = index;
  }

  page(query: CatalogueQuery): Page<string> {
    const ranks = this.#index.select(query, position(this.#table.ids, query.cursor), query.limit + 1);
    return page(ranks, query.limit, this.#table.ids, (rank) => this.#table.listForm(rank));
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

  page({ cursor, limit }: CatalogueQuery): Page<string> {
    const range = { begin: position(this.#table.ids, cursor), end: this.#table.listedCount };
    const ranks = firstCommon([this.#active], range, limit + 1);
    return page(ranks, limit, this.#table.ids, (rank) => this.#table.listForm(rank));
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

  page({ cursor, limit }: CatalogueQuery): Page<string> {
    const { retailers, listed } = this.#parts;
    const range = { begin: position(retailers.ids, cursor), end: retailers.count };
    const numbers = firstCommon([listed], range, limit + 1);
    return page(numbers, limit, retailers.ids, (retailer) => this.#text(retailer));
  }

  #text(retailer: number): string {
    const { retailers, offers, coupons, activeCoupons, promotions, activePromotions } = this.#parts;
    const head = retailers.heads[retailer] as string;
    const offerTexts = offers.embeddedForm(retailer, undefined);
    const couponTexts = coupons.embeddedForm(retailer, activeCoupons);
    const promotionTexts = promotions.embeddedForm(retailer, activePromotions);
    return `${head},"cashbackOffers":[${offerTexts}],"coupons":[${couponTexts}],"promotions":[${promotionTexts}]}`;
  }
}

function position(ids: UuidTable, cursor: Uuid | undefined): number {
  return cursor === undefined ? 0 : ids.firstAtOrAfter(cursor);
}

/** Makes a page of item numbers that were selected with one more than the limit. */
function page(
  numbers: readonly number[],
  limit: number,
  ids: UuidTable,
  textOf: (number: number) => string,
): Page<string> {
  const { items, cursor } = cutPage(numbers, limit, (number) => ids.at(number));
  return { items: items.map(textOf), cursor };
}
