// Which retailers a search finds, and in which order. Search ignores case and accents, as the API does; a
// category and a country are those of one and the same offer.

import type { Retailer } from '@offerbook/client';
import { fold } from '../fold.ts';
import type { Offer } from './cashback.ts';
import type { ListView } from './view.ts';

export interface Found {
  readonly retailer: Retailer;
  /** Its offers in the category and country that were asked for. */
  readonly offers: readonly Offer[];
  readonly featured: boolean;
}

export interface Facet {
  readonly value: string;
  /** Retailers that have it. */
  readonly count: number;
}

interface Entry {
  readonly retailer: Retailer;
  readonly text: string;
}

const byName = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

export class Selection {
  readonly #entries: readonly Entry[];
  readonly categories: readonly Facet[];
  readonly countries: readonly Facet[];

  constructor(retailers: readonly Retailer[]) {
    this.#entries = retailers
      .map((retailer) => ({ retailer, text: searchableText(retailer) }))
      .sort((a, b) => byName.compare(a.retailer.name, b.retailer.name));
    this.categories = facets(retailers, (offer) => (offer.category === '' ? [] : [offer.category]));
    this.countries = facets(retailers, (offer) => offer.countries);
  }

  /** Featured ones first, then by name. */
  find(view: Omit<ListView, 'kind'>): Found[] {
    const words = fold(view.query)
      .split(/\s+/)
      .filter((word) => word !== '');
    const category = fold(view.category);
    const found: Found[] = [];
    for (const { retailer, text } of this.#entries) {
      if (!words.every((word) => text.includes(word))) continue;
      const offers = retailer.cashbackOffers.filter(
        (offer) =>
          (category === '' || fold(offer.category) === category) &&
          (view.country === '' || offer.countries.includes(view.country)),
      );
      if (offers.length === 0 && (category !== '' || view.country !== '')) continue;
      found.push({ retailer, offers, featured: offers.some((offer) => offer.featured) });
    }
    return [...found.filter(({ featured }) => featured), ...found.filter(({ featured }) => !featured)];
  }
}

function searchableText(retailer: Retailer): string {
  const categories = new Set(retailer.cashbackOffers.map(({ category }) => category));
  return fold([retailer.name, retailer.hostname, ...categories].join('\n'));
}

function facets(retailers: readonly Retailer[], valuesOf: (offer: Offer) => readonly string[]): Facet[] {
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
