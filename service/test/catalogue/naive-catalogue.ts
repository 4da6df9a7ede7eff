// A naive catalogue: filters, sorts and cuts all items for each query. Tests compare the real catalogue with it.

import type { Coupon, Retailer } from '@offerbook/wire/catalogue.ts';
import { activePeriodMs } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { fold } from '@offerbook/wire/fold.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueListName, CatalogueQuery } from '../../src/catalogue/list-view.ts';
import { SITES } from './arbitrary-catalogue.ts';

/** A page, with each item as JSON. */
export interface TextPage {
  readonly items: readonly string[];
  readonly cursor: Uuid | undefined;
}

export function naivePage(
  retailers: readonly Retailer[],
  list: CatalogueListName,
  nowMs: number,
  query: CatalogueQuery,
  more: ReadonlyMap<Uuid, readonly string[]> = new Map(),
): TextPage {
  const items = itemsOf(retailersOf(retailers, query, more), list, nowMs, query)
    .filter(({ id }) => query.cursor === undefined || id >= query.cursor)
    .sort(byId);
  return {
    items: items.slice(0, query.limit).map((item) => printJson(item)),
    cursor: items[query.limit]?.id,
  };
}

/** Returns the retailers that match `retailerId` and `hostname`. `more` are the domains of links. */
function retailersOf(
  retailers: readonly Retailer[],
  { retailerId, hostname }: CatalogueQuery,
  more: ReadonlyMap<Uuid, readonly string[]>,
): readonly Retailer[] {
  const domainsOf = ({ id, hostname }: Retailer) => [SITES[hostname] ?? [], more.get(id) ?? []].flat();
  const matches = retailers
    .flatMap(domainsOf)
    .filter((domain) => hostname === domain || hostname?.endsWith(`.${domain}`));
  const longest = matches.toSorted((a, b) => b.length - a.length)[0];
  return retailers.filter(
    (retailer) =>
      (retailerId === undefined || retailer.id === retailerId) &&
      (hostname === undefined || (longest !== undefined && domainsOf(retailer).includes(longest))),
  );
}

function itemsOf(
  retailers: readonly Retailer[],
  list: CatalogueListName,
  nowMs: number,
  { name, category, country }: CatalogueQuery,
): { id: Uuid }[] {
  const isActive = (deal: Pick<Coupon, 'startDate' | 'endDate'>) => {
    const { fromMs, untilMs } = activePeriodMs(deal);
    return fromMs <= nowMs && nowMs < untilMs;
  };
  const shown = retailers.map((retailer) => ({
    ...retailer,
    cashbackOffers: retailer.cashbackOffers.toSorted(byId),
    coupons: retailer.coupons.filter(isActive).sort(byId),
    promotions: retailer.promotions.filter(isActive).sort(byId),
  }));
  if (list === 'retailers') {
    return shown.filter(
      ({ cashbackOffers, coupons, promotions }) =>
        cashbackOffers.length + coupons.length + promotions.length > 0,
    );
  }
  return shown.flatMap((retailer): { id: Uuid }[] => {
    const fields = { retailerId: retailer.id, logo: retailer.logo, url: retailer.url, name: retailer.name };
    if (list !== 'cashbackOffers') return retailer[list].map((deal) => ({ ...deal, ...fields }));
    if (
      !fold(retailer.name)
        .toWellFormed()
        .includes(fold(name ?? ''))
    )
      return [];
    return retailer.cashbackOffers
      .filter(
        (offer) =>
          (country === undefined || offer.countries.includes(country)) &&
          (category === undefined || fold(offer.category) === fold(category)),
      )
      .map((offer) => ({ ...offer, ...fields }));
  });
}

function byId(a: { id: Uuid }, b: { id: Uuid }): number {
  return a.id < b.id ? -1 : 1;
}
