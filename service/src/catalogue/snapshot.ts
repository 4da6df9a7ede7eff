// The catalogue at one revision. Its data is immutable and shared between threads; each thread wraps it in its own snapshot.
// Which deals are active depends on time, so the snapshot caches the view of a list until a deal starts or ends.

import type { TransactionRetailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../domain/clock.ts';
import { activityAt } from './activity.ts';
import { domainList } from './domain-list.ts';
import {
  type CatalogueListName,
  type DealsView,
  dealsView,
  type ListView,
  type RetailersView,
  retailersView,
} from './list-view.ts';
import { offerSearch } from './search/offer-search.ts';
import { retailerFilter } from './search/retailer-filter.ts';
import type { SnapshotData } from './snapshot-data.ts';
import { dealTable, retailerTable } from './tables/deal-table.ts';

/** The fields of a retailer or deal that activation needs. */
export interface CatalogueEntry {
  readonly retailerId: Uuid;
  readonly retailerUrl: string;
  /** Domains of the retailer's site, including that of its hostname. Never a public suffix. */
  readonly retailerDomains: readonly string[];
  /** The promotion's deep link, or else the retailer's URL. */
  readonly url: string;
  readonly isActive: boolean;
}

export type Snapshot = ReturnType<typeof openSnapshot>;

export function openSnapshot(data: SnapshotData, clock: Clock) {
  const retailers = retailerTable(data.retailers);
  const deals = forEachDealList((list) => dealTable(data.deals[list], retailers));
  const filter = retailerFilter(retailers.ids, data.domains);
  const search = offerSearch(data.search, data.deals.cashbackOffers);
  const domains = domainList(data.domains);
  const lastDeals: Partial<Record<DealList, DealsView>> = {};
  let lastRetailers: RetailersView | undefined;

  function currentDeals(list: DealList, nowMs: number): DealsView {
    let view = lastDeals[list];
    if (view?.activity.holdsAt(nowMs) !== true) {
      const activity = activityAt(data.deals[list].periods, nowMs);
      view = dealsView(deals[list], activity, filter, list === 'cashbackOffers' ? search : undefined);
      lastDeals[list] = view;
    }
    return view;
  }

  function currentList(name: CatalogueListName): ListView {
    const nowMs = clock();
    if (name !== 'retailers') return currentDeals(name, nowMs);
    if (lastRetailers?.holdsAt(nowMs) !== true) {
      const current = forEachDealList((list) => currentDeals(list, nowMs));
      lastRetailers = retailersView(retailers, filter, current);
    }
    return lastRetailers;
  }

  /** Parses the retailer's document only up to its first deal, because a retailer can have thousands of deals. */
  function fieldsOf(retailer: number): TransactionRetailer & { readonly url: string } {
    const [firstDeal] = DEAL_LISTS.flatMap((list) => deals[list].beginOf(retailer) ?? []);
    const text = retailers.documents.text(retailer, 0, firstDeal);
    return JSON.parse(firstDeal === undefined ? text : `${text}]}`);
  }

  function siteOf(retailer: number) {
    return { retailerUrl: fieldsOf(retailer).url, retailerDomains: domains.domainsOf(retailer) };
  }

  const countOf = (name: CatalogueListName) => currentList(name).count();

  return {
    revision: data.revision,
    /** Does not depend on time, because it includes retailers without active deals. */
    domains,
    /** Returns the current view of a list. The same object is returned until the list's contents change. */
    list: currentList,
    /** Returns the number of active items in each list. */
    counts: () => ({ retailers: countOf('retailers'), ...forEachDealList(countOf) }),
    /** Finds a retailer or deal by id, active or not. */
    find(name: CatalogueListName, id: Uuid): CatalogueEntry | undefined {
      if (name === 'retailers') {
        const retailer = retailers.ids.find(id);
        if (retailer === undefined) return undefined;
        const site = siteOf(retailer);
        return { ...site, retailerId: id, url: site.retailerUrl, isActive: true };
      }
      const table = deals[name];
      const rank = table.ids.find(id);
      if (rank === undefined) return undefined;
      const owner = table.data.owners[rank] as number;
      const site = siteOf(owner);
      return {
        ...site,
        retailerId: retailers.ids.at(owner),
        url: (name === 'promotions' ? table.deepLink(rank) : undefined) ?? site.retailerUrl,
        isActive: currentDeals(name, clock()).activity.active?.has(rank) ?? true,
      };
    },
    /** Finds the fields of a retailer that transactions show, whether or not it has active deals. */
    findRetailer(id: Uuid): TransactionRetailer | undefined {
      const retailer = retailers.ids.find(id);
      if (retailer === undefined) return undefined;
      const { name, hostname, logo } = fieldsOf(retailer);
      return { id, name, hostname, logo };
    },
  };
}
