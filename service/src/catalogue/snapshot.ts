// The whole catalogue as of one revision. What is in it never changes; which of it is shown changes with
// time, and the snapshot keeps the current view of each list until a start or an end touches that list.

import {
  type CatalogueListName,
  DatedDealsView,
  type ListView,
  OffersView,
  RetailersView,
} from './list-view.ts';
import type { OfferIndex } from './search/offer-index.ts';
import type { DealTable } from './tables/deal-table.ts';
import type { ListedRetailers } from './tables/listed-retailers.ts';
import type { RetailerTable } from './tables/retailer-table.ts';
import type { Activity, Timeline } from './timeline.ts';

export interface DatedDeals {
  readonly table: DealTable;
  readonly timeline: Timeline;
}

export interface SnapshotParts {
  readonly revision: number;
  readonly retailers: RetailerTable;
  readonly offers: DealTable;
  readonly offerIndex: OfferIndex;
  readonly coupons: DatedDeals;
  readonly promotions: DatedDeals;
  readonly listedRetailers: ListedRetailers;
}

export class Snapshot {
  readonly revision: number;
  readonly #lists: Readonly<Record<CatalogueListName, (nowMs: number) => ListView>>;

  constructor({
    revision,
    retailers,
    offers,
    offerIndex,
    coupons,
    promotions,
    listedRetailers,
  }: SnapshotParts) {
    this.revision = revision;
    const offersView = new OffersView(offers, offerIndex);
    this.#lists = {
      cashbackOffers: () => offersView,
      coupons: renewed([coupons], ([{ active }]) => new DatedDealsView(coupons.table, active)),
      promotions: renewed([promotions], ([{ active }]) => new DatedDealsView(promotions.table, active)),
      retailers: renewed(
        [coupons, promotions],
        ([{ active: activeCoupons }, { active: activePromotions }]) =>
          new RetailersView({
            retailers,
            listed: listedRetailers.with(activeCoupons, activePromotions),
            offers,
            coupons: coupons.table,
            activeCoupons,
            promotions: promotions.table,
            activePromotions,
          }),
      ),
    };
  }

  list(name: CatalogueListName, nowMs: number): ListView {
    return this.#lists[name](nowMs);
  }
}

type Activities<Deals extends readonly DatedDeals[]> = { readonly [Index in keyof Deals]: Activity };

/** Keeps a view for as long as the activities that it was made from are the current ones. */
function renewed<const Deals extends readonly DatedDeals[]>(
  deals: Deals,
  make: (activities: Activities<Deals>) => ListView,
): (nowMs: number) => ListView {
  let current: { activities: readonly Activity[]; view: ListView } | undefined;
  return (nowMs) => {
    const activities = deals.map(({ timeline }) => timeline.at(nowMs));
    if (
      current === undefined ||
      activities.some((activity, index) => activity !== current?.activities[index])
    ) {
      current = { activities, view: make(activities as Activities<Deals>) };
    }
    return current.view;
  };
}
