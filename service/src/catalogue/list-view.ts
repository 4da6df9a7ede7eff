// Immutable views of the catalogue lists at one moment. A view does not change over time or after an import. A view selects and
// writes the items of a page.

import { DEAL_LISTS, type DealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Activity } from './activity.ts';
import type { OfferQuery, OfferSearch } from './search/offer-search.ts';
import type { RetailerFilter, RetailerQuery } from './search/retailer-filter.ts';
import { type Ascending, allBelow, firstOf, sequence } from './tables/ascending.ts';
import { Bitset } from './tables/bitset.ts';
import type { DealTable, RetailerTable } from './tables/deal-table.ts';
import { type EncodedPage, type PageWriter, writeItemAlone, writePage } from './tables/page-writer.ts';
import type { UuidTable } from './tables/uuid-table.ts';

export type CatalogueListName = 'retailers' | DealList;

/** Only the cashback offer list uses the fields of OfferQuery; the other lists ignore them. */
export type CatalogueQuery = OfferQuery &
  RetailerQuery & {
    /** The page starts at the first selected item whose id is at or after this one. */
    readonly cursor: Uuid | undefined;
    readonly limit: number;
  };

export interface ListView {
  page(query: CatalogueQuery): EncodedPage;
  /** Returns one item as the list contains it; undefined if the list does not contain it. */
  item(id: Uuid): EncodedPage | undefined;
}

/** The active deals of a list. */
export class DealsView implements ListView {
  readonly table: DealTable;
  readonly activity: Activity;
  readonly #filter: RetailerFilter;
  readonly #search: OfferSearch | undefined;

  /** Only the cashback offer list has a `search`; its deals are always active. */
  constructor(table: DealTable, activity: Activity, filter: RetailerFilter, search?: OfferSearch) {
    this.table = table;
    this.activity = activity;
    this.#filter = filter;
    this.#search = search;
  }

  get count(): number {
    return this.activity.active?.count() ?? this.table.ids.length;
  }

  page(query: CatalogueQuery): EncodedPage {
    const { table, activity } = this;
    const { limit } = query;
    const begin = firstFrom(query.cursor, table.ids);
    const end = table.ids.length;
    const retailers = this.#filter.select(query);
    const selected = retailers && this.#ranksOf(retailers);
    const active = selected && sequence(selected.filter((rank) => activity.isActive(rank)));
    const numbers =
      this.#search?.select(query, { begin, end }, limit + 1, retailers) ??
      firstOf(active ?? activity.active ?? allBelow(end), begin, limit + 1);
    return writePage({
      numbers,
      limit,
      ids: table.ids,
      writeItem: (rank, writer) => table.writeListForm(rank, writer),
      changesAtMs: (last = end - 1) => {
        let changesAtMs = Number.POSITIVE_INFINITY;
        if (activity.active === undefined) return changesAtMs;
        const ranks = selected === undefined ? allBelow(end) : sequence(selected);
        ranks.walk(begin, (rank) => {
          if (rank <= last) changesAtMs = Math.min(changesAtMs, activity.nextChangeMs(rank));
          return rank < last;
        });
        return changesAtMs;
      },
    });
  }

  /** Returns the ranks of these retailers' deals, active or not, ascending. */
  #ranksOf(retailers: readonly number[]): number[] {
    const { items, begins } = this.table.data.ranks;
    const ranks = retailers.flatMap((retailer) => [
      ...items.subarray(begins[retailer], begins[retailer + 1]),
    ]);
    return ranks.sort((a, b) => a - b);
  }

  item(id: Uuid): EncodedPage | undefined {
    const { table, activity } = this;
    const rank = table.ids.find(id);
    if (rank === undefined || !activity.isActive(rank)) return undefined;
    return writeItemAlone((writer) => table.writeListForm(rank, writer), activity.nextChangeMs(rank));
  }

  /** Returns when a deal of this retailer next starts or ends. */
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
  readonly #filter: RetailerFilter;
  readonly #deals: Readonly<Record<DealList, DealsView>>;
  /** Retailers with at least one active deal. */
  readonly #listed: Bitset;

  constructor(
    retailers: RetailerTable,
    filter: RetailerFilter,
    deals: Readonly<Record<DealList, DealsView>>,
  ) {
    this.#retailers = retailers;
    this.#filter = filter;
    this.#deals = deals;
    this.#listed = new Bitset(retailers.ids.length);
    for (const { table, activity } of Object.values(deals)) {
      const { owners } = table.data;
      (activity.active ?? allBelow(owners.length)).walk(0, (rank) => {
        this.#listed.add(owners[rank] as number);
        return true;
      });
    }
  }

  get count(): number {
    return this.#listed.count();
  }

  holdsAt(nowMs: number): boolean {
    return DEAL_LISTS.every((list) => this.#deals[list].activity.holdsAt(nowMs));
  }

  page(query: CatalogueQuery): EncodedPage {
    const { limit } = query;
    const { ids } = this.#retailers;
    const begin = firstFrom(query.cursor, ids);
    const selected = this.#filter.select(query);
    const listed = selected && sequence(selected.filter((retailer) => this.#listed.has(retailer)));
    return writePage({
      numbers: firstOf(listed ?? this.#listed, begin, limit + 1),
      limit,
      ids,
      writeItem: (retailer, writer) => this.#write(retailer, writer),
      // Include unlisted retailers, which appear in the list when one of their deals starts.
      changesAtMs: (last = ids.length - 1) => {
        const retailers = selected === undefined ? allBelow(last + 1) : sequence(selected);
        return this.#changesAtMs(retailers, begin, last);
      },
    });
  }

  item(id: Uuid): EncodedPage | undefined {
    const retailer = this.#retailers.ids.find(id);
    if (retailer === undefined || !this.#listed.has(retailer)) return undefined;
    return writeItemAlone(
      (writer) => this.#write(retailer, writer),
      this.#changesAtMs(sequence([retailer]), retailer, retailer),
    );
  }

  #changesAtMs(retailers: Ascending, first: number, last: number): number {
    let changesAtMs = Number.POSITIVE_INFINITY;
    retailers.walk(first, (retailer) => {
      if (retailer > last) return false;
      for (const list of DEAL_LISTS)
        changesAtMs = Math.min(changesAtMs, this.#deals[list].nextChangeOfMs(retailer));
      return true;
    });
    return changesAtMs;
  }

  /** Copies the stored document without inactive deals. */
  #write(retailer: number, writer: PageWriter): void {
    let begin = 0;
    for (const list of DEAL_LISTS) {
      const { table, activity } = this.#deals[list];
      begin = table.writeEmbeddedForm(retailer, activity.active, begin, writer);
    }
    this.#retailers.documents.write(retailer, writer, begin);
  }
}

function firstFrom(cursor: Uuid | undefined, ids: UuidTable): number {
  return cursor === undefined ? 0 : ids.firstAtOrAfter(cursor);
}
