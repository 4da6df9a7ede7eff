// Immutable views of the catalogue lists at one moment. A view does not change over time or after an import. A view selects and
// writes the items of a page.

import { DEAL_LISTS, type DealList } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Activity } from './activity.ts';
import type { OfferQuery, OfferSearch } from './search/offer-search.ts';
import type { RetailerFilter, RetailerQuery } from './search/retailer-filter.ts';
import { allBelow, firstOf, sequence } from './tables/ascending.ts';
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
  count(): number;
  page(query: CatalogueQuery): EncodedPage;
  /** Returns one item as the list contains it; undefined if the list does not contain it. */
  item(id: Uuid): EncodedPage | undefined;
}

/** The items of a list, by number. */
interface ListItems {
  readonly ids: UuidTable;
  /** The items that the list contains now; undefined if it always contains all. */
  readonly listed: Bitset | undefined;
  /** Returns the numbers of these retailers' items, listed or not, ascending. */
  readonly itemsOf: (retailers: readonly number[]) => readonly number[];
  readonly filter: RetailerFilter;
  readonly search?: OfferSearch | undefined;
  readonly write: (number: number, writer: PageWriter) => void;
  /** Returns when an item next changes, or becomes listed. */
  readonly nextChangeMs: (number: number) => number;
}

function listView({ ids, listed, itemsOf, filter, search, write, nextChangeMs }: ListItems): ListView {
  const end = ids.length;
  const isListed = (number: number) => listed?.has(number) ?? true;
  return {
    count: () => listed?.count() ?? end,
    page(query) {
      const { limit } = query;
      const begin = query.cursor === undefined ? 0 : ids.firstAtOrAfter(query.cursor);
      const retailers = filter(query);
      const selected = retailers && itemsOf(retailers);
      const shown = selected && sequence(selected.filter(isListed));
      const numbers =
        search?.(query, { begin, end }, limit + 1, retailers) ??
        firstOf(shown ?? listed ?? allBelow(end), begin, limit + 1);
      const { bytes, cursor, next = end } = writePage({ numbers, limit, ids, writeItem: write });
      let changesAtMs = Number.POSITIVE_INFINITY;
      if (listed !== undefined) {
        // Includes the next page's first item, whose id is the cursor, and items that are not listed now but may be soon.
        const candidates = selected === undefined ? allBelow(end) : sequence(selected);
        candidates.walk(begin, (number) => {
          if (number <= next) changesAtMs = Math.min(changesAtMs, nextChangeMs(number));
          return number < next;
        });
      }
      return { bytes, cursor, changesAtMs };
    },
    item(id) {
      const number = ids.find(id);
      if (number === undefined || !isListed(number)) return undefined;
      return writeItemAlone((writer) => write(number, writer), nextChangeMs(number));
    },
  };
}

export type DealsView = ReturnType<typeof dealsView>;

/** Returns a view of the active deals of a list. Only the cashback offer list has a `search`; its deals are always active. */
export function dealsView(
  table: DealTable,
  activity: Activity,
  filter: RetailerFilter,
  search?: OfferSearch,
) {
  const { ids, writeListForm: write } = table;
  const { items, begins } = table.data.ranks;
  const { active: listed, nextChangeMs } = activity;

  function itemsOf(retailers: readonly number[]): number[] {
    const ranks = retailers.flatMap((retailer) => [
      ...items.subarray(begins[retailer], begins[retailer + 1]),
    ]);
    return ranks.sort((a, b) => a - b);
  }

  return {
    ...listView({ ids, listed, itemsOf, filter, search, write, nextChangeMs }),
    table,
    activity,
  };
}

export type RetailersView = ReturnType<typeof retailersView>;

/** Returns a view of the retailers with at least one active deal. */
export function retailersView(
  { ids, documents }: RetailerTable,
  filter: RetailerFilter,
  deals: Readonly<Record<DealList, DealsView>>,
) {
  const listed = new Bitset(ids.length);
  for (const { table, activity } of Object.values(deals)) {
    const { owners } = table.data;
    (activity.active ?? allBelow(owners.length)).walk(0, (rank) => {
      listed.add(owners[rank] as number);
      return true;
    });
  }

  /** Returns when a deal of this retailer next starts or ends. */
  function nextChangeMs(retailer: number): number {
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (const list of DEAL_LISTS) {
      const { table, activity } = deals[list];
      const { items, begins } = table.data.ranks;
      for (let slot = begins[retailer] as number; slot < (begins[retailer + 1] as number); slot++)
        changesAtMs = Math.min(changesAtMs, activity.nextChangeMs(items[slot] as number));
    }
    return changesAtMs;
  }

  /** Copies the stored document without inactive deals. */
  function write(retailer: number, writer: PageWriter): void {
    let begin = 0;
    for (const list of DEAL_LISTS) {
      const { table, activity } = deals[list];
      begin = table.writeEmbeddedForm(retailer, activity.active, begin, writer);
    }
    documents.write(retailer, writer, begin);
  }

  return {
    ...listView({ ids, listed, itemsOf: (retailers) => retailers, filter, write, nextChangeMs }),
    holdsAt: (nowMs: number) => DEAL_LISTS.every((list) => deals[list].activity.holdsAt(nowMs)),
  };
}
