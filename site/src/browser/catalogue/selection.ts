// Filters and sorts retailers. Search ignores case and accents, like the API; the best matches come first unless the reader chose
// another order. Category and country must match the same offer.

import type { Retailer, RetailerOffer } from '@offerbook/client';
import { bestOffer, compareOffers } from '@offerbook/wire/deals.ts';
import { fold } from '@offerbook/wire/fold.ts';
import type { DealKind, ListView, Sort } from './view.ts';

export interface Found {
  readonly retailer: Retailer;
  /** The retailer's offers that match the filters. */
  readonly offers: readonly RetailerOffer[];
  /** The best featured offer in `offers`. */
  readonly featured: RetailerOffer | undefined;
  /** How well the name matches the search: 0 is best. */
  readonly rank: number;
}

export type Facet = ReturnType<typeof facets>[number];

const byName = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

export class Selection {
  /** Sorted by name. */
  readonly #entries: readonly { readonly retailer: Retailer; readonly name: string; readonly text: string }[];
  readonly categories: readonly Facet[];
  readonly countries: readonly Facet[];

  constructor(retailers: readonly Retailer[]) {
    this.#entries = retailers
      .map((retailer) => ({ retailer, name: fold(retailer.name), text: searchableText(retailer) }))
      .sort((a, b) => byName.compare(a.retailer.name, b.retailer.name));
    this.categories = facets(retailers, (offer) => (offer.category === '' ? [] : [offer.category]));
    this.countries = facets(retailers, (offer) => offer.countries);
  }

  /** Sorts as the view requests. Ties are sorted by name, because sort() is stable. */
  find(view: ListView): Found[] {
    const words = fold(view.query).match(/\S+/g) ?? [];
    const query = words.join(' ');
    const category = fold(view.category);
    const found: Found[] = [];
    for (const { retailer, name, text } of this.#entries) {
      if (!words.every((word) => text.includes(word))) continue;
      const offers = retailer.cashbackOffers.filter(
        (offer) =>
          (category === '' || fold(offer.category) === category) &&
          (view.country === '' || offer.countries.includes(view.country)) &&
          (view.deals !== 'featured' || offer.featured),
      );
      if (offers.length === 0 && (category !== '' || view.country !== '')) continue;
      if (!hasDeals(view.deals, retailer, offers)) continue;
      const featured = bestOffer(offers.filter((offer) => offer.featured));
      found.push({ retailer, offers, featured, rank: rankOf(name, query) });
    }
    return found.sort(ORDERS[view.sort]);
  }
}

/** Ranks matches: the whole name first, then the start of a word, inside a word, and the website or category. */
function rankOf(name: string, query: string): number {
  if (query === '' || name === query) return 0;
  const at = name.indexOf(query);
  if (at === -1) return 3;
  const isWordStart = at === 0 || name.includes(` ${query}`);
  return isWordStart ? 1 : 2;
}

function hasDeals(
  kind: DealKind | '',
  { coupons, promotions }: Retailer,
  offers: readonly RetailerOffer[],
): boolean {
  if (kind === 'coupons') return coupons.length > 0;
  if (kind === 'promotions') return promotions.length > 0;
  return kind === '' || offers.length > 0;
}

const ORDERS: Record<Sort | '', (a: Found, b: Found) => number> = {
  '': (a, b) => a.rank - b.rank || Number(b.featured !== undefined) - Number(a.featured !== undefined),
  name: () => 0,
  rate: (a, b) => compareBest(bestOffer(a.offers), bestOffer(b.offers)),
  ending: (a, b) => compareEnds(endOf(a), endOf(b)),
};

/** Retailers without offers come last. */
function compareBest(a: RetailerOffer | undefined, b: RetailerOffer | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return compareOffers(a, b);
}

/** Earliest end date of the retailer's coupons and promotions; sorts last if there are none. */
function endOf({ retailer: { coupons, promotions } }: Found): string {
  return [...coupons, ...promotions].map(({ endDate }) => endDate).reduce((a, b) => (b < a ? b : a), '~');
}

/** Timestamps sort as strings. */
function compareEnds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function searchableText(retailer: Retailer): string {
  const categories = new Set(retailer.cashbackOffers.map(({ category }) => category));
  return fold([retailer.name, retailer.hostname, ...categories].join('\n'));
}

/** Counts the retailers with each value. */
function facets(retailers: readonly Retailer[], valuesOf: (offer: RetailerOffer) => readonly string[]) {
  const byFold = new Map<string, { value: string; count: number }>();
  for (const { cashbackOffers } of retailers) {
    const values = new Map(cashbackOffers.flatMap(valuesOf).map((value) => [fold(value), value]));
    for (const [folded, value] of values) {
      const facet = byFold.get(folded) ?? { value, count: 0 };
      facet.count++;
      byFold.set(folded, facet);
    }
  }
  return [...byFold.values()].sort((a, b) => byName.compare(a.value, b.value));
}
