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
  count(): number;
  page(query: CatalogueQuery): EncodedPage;
  /** Returns one item as the list contains it; undefined if the list does not contain it. */
  item(id: Uuid): EncodedPage | undefined;
}

export type DealsView = ReturnType<typeof dealsView>;

/** Returns a view of the active deals of a list. Only the cashback offer list has a `search`; its deals are always active. */
export function dealsView(
  table: DealTable,
  activity: Activity,
  filter: RetailerFilter,
  search?: OfferSearch,
) {
  const { ids } = table;
  const { items, begins } = table.data.ranks;

  /** Returns the ranks of these retailers' deals, active or not, ascending. */
  function ranksOf(retailers: readonly number[]): number[] {
    const ranks = retailers.flatMap((retailer) => [
      ...items.subarray(begins[retailer], begins[retailer + 1]),
    ]);
    return ranks.sort((a, b) => a - b);
  }

  return {
    table,
    activity,
    count: () => activity.active?.count() ?? ids.length,
    page(query: CatalogueQuery): EncodedPage {
      const { limit } = query;
      const begin = firstFrom(query.cursor, ids);
      const end = ids.length;
      const retailers = filter(query);
      const selected = retailers && ranksOf(retailers);
      const active = selected && sequence(selected.filter(activity.isActive));
      const numbers =
        search?.(query, { begin, end }, limit + 1, retailers) ??
        firstOf(active ?? activity.active ?? allBelow(end), begin, limit + 1);
      return writePage({
        numbers,
        limit,
        ids,
        writeItem: table.writeListForm,
        changesAtMs(last = end - 1) {
          if (activity.active === undefined) return Number.POSITIVE_INFINITY;
          const ranks = selected === undefined ? allBelow(end) : sequence(selected);
          return earliestMs(ranks, begin, last, activity.nextChangeMs);
        },
      });
    },
    item(id: Uuid): EncodedPage | undefined {
      const rank = ids.find(id);
      if (rank === undefined || !activity.isActive(rank)) return undefined;
      return writeItemAlone((writer) => table.writeListForm(rank, writer), activity.nextChangeMs(rank));
    },
    /** Returns when a deal of this retailer next starts or ends. */
    nextChangeOfMs(retailer: number): number {
      let changesAtMs = Number.POSITIVE_INFINITY;
      for (let slot = begins[retailer] as number; slot < (begins[retailer + 1] as number); slot++)
        changesAtMs = Math.min(changesAtMs, activity.nextChangeMs(items[slot] as number));
      return changesAtMs;
    },
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

  function nextChangeMs(retailer: number): number {
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (const list of DEAL_LISTS) changesAtMs = Math.min(changesAtMs, deals[list].nextChangeOfMs(retailer));
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
    holdsAt: (nowMs: number) => DEAL_LISTS.every((list) => deals[list].activity.holdsAt(nowMs)),
    count: () => listed.count(),
    page(query: CatalogueQuery): EncodedPage {
      const { limit } = query;
      const begin = firstFrom(query.cursor, ids);
      const selected = filter(query);
      const shown = selected && sequence(selected.filter((retailer) => listed.has(retailer)));
      return writePage({
        numbers: firstOf(shown ?? listed, begin, limit + 1),
        limit,
        ids,
        writeItem: write,
        // Include unlisted retailers, which appear in the list when one of their deals starts.
        changesAtMs(last = ids.length - 1) {
          const retailers = selected === undefined ? allBelow(last + 1) : sequence(selected);
          return earliestMs(retailers, begin, last, nextChangeMs);
        },
      });
    },
    item(id: Uuid): EncodedPage | undefined {
      const retailer = ids.find(id);
      if (retailer === undefined || !listed.has(retailer)) return undefined;
      return writeItemAlone((writer) => write(retailer, writer), nextChangeMs(retailer));
    },
  };
}

/** Returns the earliest change of these items, from `begin` to `last`. */
function earliestMs(
  numbers: Ascending,
  begin: number,
  last: number,
  nextChangeMs: (number: number) => number,
): number {
  let changesAtMs = Number.POSITIVE_INFINITY;
  numbers.walk(begin, (number) => {
    if (number <= last) changesAtMs = Math.min(changesAtMs, nextChangeMs(number));
    return number < last;
  });
  return changesAtMs;
}

function firstFrom(cursor: Uuid | undefined, ids: UuidTable): number {
  return cursor === undefined ? 0 : ids.firstAtOrAfter(cursor);
}
