// The whole catalogue as of one revision. Its contents never change. Which deals are shown changes with time: the
// snapshot keeps the current view of each list until a deal of that list starts or ends. Every thread makes its own
// snapshot of the same data, which costs next to nothing.

import { type DealList, forEachDealList } from '../domain/deals.ts';
import type { Uuid } from '../domain/uuid.ts';
import { Activity } from './activity.ts';
import { type CatalogueListName, DealsView, type ListView, OffersView, RetailersView } from './list-view.ts';
import { OfferSearch } from './search/offer-search.ts';
import type { SnapshotData } from './snapshot-data.ts';
import { DealTable } from './tables/deal-table.ts';
import { JsonColumn } from './tables/json-column.ts';
import { RetailerTable } from './tables/retailer-table.ts';

/** A retailer or a deal, as far as those need to know who send users there. */
export interface CatalogueEntry {
  readonly retailerId: Uuid;
  readonly retailerUrl: string;
  /** The deep link of a promotion; else the retailer's URL. */
  readonly url: string;
  readonly isActive: boolean;
}

export class Snapshot {
  readonly revision: number;
  readonly #retailerTable: RetailerTable;
  readonly #dealTables: Readonly<Record<DealList, DealTable>>;
  readonly #offers: OffersView;
  readonly #deals: Partial<Record<DealList, DealsView>> = {};
  #retailers: RetailersView | undefined;

  constructor({ revision, retailers, deals, search }: SnapshotData) {
    this.revision = revision;
    this.#retailerTable = new RetailerTable(retailers);
    const tails = new JsonColumn(retailers.tails);
    this.#dealTables = forEachDealList((list) => new DealTable(deals[list], tails));
    const { cashbackOffers } = this.#dealTables;
    this.#offers = new OffersView(cashbackOffers, new OfferSearch(search, cashbackOffers));
  }

  list(name: CatalogueListName, nowMs: number): ListView {
    if (name === 'cashbackOffers') return this.#offers;
    return name === 'retailers' ? this.#retailersAt(nowMs) : this.#dealsAt(name, nowMs);
  }

  /** How many items each list has. */
  counts(nowMs: number): Record<CatalogueListName, number> {
    return {
      retailers: this.#retailersAt(nowMs).count,
      ...forEachDealList((list) => this.#dealsAt(list, nowMs).count),
    };
  }

  /** What the catalogue has under an id, whether it is active or not. */
  find(name: CatalogueListName, id: Uuid, nowMs: number): CatalogueEntry | undefined {
    if (name === 'retailers') {
      const retailer = this.#retailerTable.ids.find(id);
      if (retailer === undefined) return undefined;
      const url = this.#retailerTable.url(retailer);
      return { retailerId: id, retailerUrl: url, url, isActive: true };
    }
    const table = this.#dealTables[name];
    const rank = table.ids.find(id);
    if (rank === undefined) return undefined;
    const owner = table.data.owners[rank] as number;
    const retailerUrl = this.#retailerTable.url(owner);
    return {
      retailerId: this.#retailerTable.ids.at(owner),
      retailerUrl,
      url: (name === 'promotions' ? table.deepLink(rank) : undefined) ?? retailerUrl,
      isActive: this.#dealsAt(name, nowMs).activity.active?.has(rank) ?? true,
    };
  }

  #dealsAt(list: DealList, nowMs: number): DealsView {
    let view = this.#deals[list];
    if (view?.activity.holdsAt(nowMs) !== true) {
      const table = this.#dealTables[list];
      view = new DealsView(table, new Activity(table.data.periods, nowMs));
      this.#deals[list] = view;
    }
    return view;
  }

  #retailersAt(nowMs: number): RetailersView {
    let view = this.#retailers;
    if (view?.holdsAt(nowMs) !== true) {
      view = new RetailersView(
        this.#retailerTable,
        forEachDealList((list) => this.#dealsAt(list, nowMs)),
      );
      this.#retailers = view;
    }
    return view;
  }
}
