// The catalogue at one revision. Its data is immutable and shared between threads; each thread wraps it in its own snapshot.
// Which deals are active depends on time, so the snapshot caches the view of a list until a deal starts or ends.

import type { TransactionRetailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS, type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { Activity } from './activity.ts';
import { DomainList } from './domain-list.ts';
import { type CatalogueListName, DealsView, type ListView, RetailersView } from './list-view.ts';
import { OfferSearch } from './search/offer-search.ts';
import { RetailerFilter } from './search/retailer-filter.ts';
import type { SnapshotData } from './snapshot-data.ts';
import { DealTable, RetailerTable } from './tables/deal-table.ts';

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

export class Snapshot {
  readonly revision: number;
  /** Does not depend on time, because it includes retailers without active deals. */
  readonly domains: DomainList;
  readonly #retailerTable: RetailerTable;
  readonly #dealTables: Readonly<Record<DealList, DealTable>>;
  readonly #offerSearch: OfferSearch;
  readonly #retailerFilter: RetailerFilter;
  readonly #deals: Partial<Record<DealList, DealsView>> = {};
  #retailers: RetailersView | undefined;

  constructor({ revision, retailers, deals, search, domains }: SnapshotData) {
    this.revision = revision;
    this.#retailerTable = new RetailerTable(retailers);
    this.#dealTables = forEachDealList((list) => new DealTable(deals[list], this.#retailerTable));
    this.#retailerFilter = new RetailerFilter(this.#retailerTable.ids, domains);
    this.domains = new DomainList(domains);
    this.#offerSearch = new OfferSearch(search, deals.cashbackOffers);
  }

  list(name: CatalogueListName, nowMs: number): ListView {
    return name === 'retailers' ? this.#retailersAt(nowMs) : this.#dealsAt(name, nowMs);
  }

  /** Number of active items in each list. */
  counts(nowMs: number): Record<CatalogueListName, number> {
    return {
      retailers: this.#retailersAt(nowMs).count,
      ...forEachDealList((list) => this.#dealsAt(list, nowMs).count),
    };
  }

  /** Finds a retailer or deal by id, active or not. */
  find(name: CatalogueListName, id: Uuid, nowMs: number): CatalogueEntry | undefined {
    if (name === 'retailers') {
      const retailer = this.#retailerTable.ids.find(id);
      if (retailer === undefined) return undefined;
      const site = this.#siteOf(retailer);
      return { ...site, retailerId: id, url: site.retailerUrl, isActive: true };
    }
    const table = this.#dealTables[name];
    const rank = table.ids.find(id);
    if (rank === undefined) return undefined;
    const owner = table.data.owners[rank] as number;
    const site = this.#siteOf(owner);
    return {
      ...site,
      retailerId: this.#retailerTable.ids.at(owner),
      url: (name === 'promotions' ? table.deepLink(rank) : undefined) ?? site.retailerUrl,
      isActive: this.#dealsAt(name, nowMs).activity.isActive(rank),
    };
  }

  findRetailer(id: Uuid): TransactionRetailer | undefined {
    const retailer = this.#retailerTable.ids.find(id);
    if (retailer === undefined) return undefined;
    const { name, hostname, logo } = this.#fieldsOf(retailer);
    return { id, name, hostname, logo };
  }

  /** Parses the retailer's document only up to its first deal, because a retailer can have thousands of deals. */
  #fieldsOf(retailer: number): TransactionRetailer & { readonly url: string } {
    const [firstDeal] = DEAL_LISTS.flatMap((list) => this.#dealTables[list].beginOf(retailer) ?? []);
    const text = this.#retailerTable.documents.text(retailer, 0, firstDeal);
    return JSON.parse(firstDeal === undefined ? text : `${text}]}`);
  }

  #siteOf(retailer: number) {
    return { retailerUrl: this.#fieldsOf(retailer).url, retailerDomains: this.domains.domainsOf(retailer) };
  }

  #dealsAt(list: DealList, nowMs: number): DealsView {
    let view = this.#deals[list];
    if (view?.activity.holdsAt(nowMs) !== true) {
      const table = this.#dealTables[list];
      const search = list === 'cashbackOffers' ? this.#offerSearch : undefined;
      view = new DealsView(table, new Activity(table.data.periods, nowMs), this.#retailerFilter, search);
      this.#deals[list] = view;
    }
    return view;
  }

  #retailersAt(nowMs: number): RetailersView {
    let view = this.#retailers;
    if (view?.holdsAt(nowMs) !== true) {
      view = new RetailersView(
        this.#retailerTable,
        this.#retailerFilter,
        forEachDealList((list) => this.#dealsAt(list, nowMs)),
      );
      this.#retailers = view;
    }
    return view;
  }
}
