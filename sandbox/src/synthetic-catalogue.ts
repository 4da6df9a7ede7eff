// Generates the sandbox catalogue as a pure function of the seed and the time. Only coupons and promotions depend on the time.

import { makeCoupons, makePromotions } from './coupons-and-promotions.ts';
import { makeOffers } from './offers.ts';
import { namedUuid, Random } from './random.ts';
import { openShops } from './shop.ts';
import type { Retailer } from './wire.ts';

const RETAILER_COUNT = 400;
/** The number of deals in total, and the minimum and maximum for a retailer. */
const DEALS = {
  offers: { total: 1_500, min: 1, max: 9 },
  coupons: { total: 600, min: 0, max: 6 },
  promotions: { total: 300, min: 0, max: 4 },
};
/** A value above 1 gives popular shops more deals. */
const SKEW = 1.6;

export interface CatalogueOptions {
  readonly seed: number;
  readonly nowMs: number;
  readonly logoUrl: (retailerId: string) => string;
  /** Only the most popular retailers. Default: all. */
  readonly count?: number;
}

/** Returns the retailers at nowMs, most popular first. */
export function makeCatalogue({ seed, nowMs, logoUrl, count }: CatalogueOptions): Retailer[] {
  const offers = spread(seed, 'offers');
  const coupons = spread(seed, 'coupons');
  const promotions = spread(seed, 'promotions');
  const shops = openShops(seed, RETAILER_COUNT).slice(0, count);
  return shops.map((shop) => {
    const id = namedUuid(seed, 'retailer', shop.number);
    return {
      id,
      name: shop.name,
      hostname: shop.hostname,
      url: `https://${shop.hostname}/`,
      logo: logoUrl(id),
      cashbackOffers: makeOffers(seed, shop, offers[shop.number] ?? 0),
      coupons: makeCoupons(seed, shop, coupons[shop.number] ?? 0, nowMs),
      promotions: makePromotions(seed, shop, promotions[shop.number] ?? 0, nowMs),
    };
  });
}

/** Distributes deals among the retailers, with more for popular ones. */
function spread(seed: number, kind: keyof typeof DEALS): number[] {
  const random = new Random(seed, kind);
  const { total, min, max } = DEALS[kind];
  const counts = new Array<number>(RETAILER_COUNT).fill(min);
  for (let left = total - RETAILER_COUNT * min; left > 0; ) {
    const place = Math.floor(random.unit() ** SKEW * RETAILER_COUNT);
    const count = counts[place] ?? max;
    if (count >= max) continue;
    counts[place] = count + 1;
    left--;
  }
  return counts;
}
