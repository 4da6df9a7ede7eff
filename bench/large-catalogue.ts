// Generates a catalogue of any size from the sandbox's data. Each retailer name combines two words, so that tens of thousands
// are unique.

import { makeCoupons, makePromotions } from '@offerbook/sandbox/coupons-and-promotions.ts';
import { makeOffers } from '@offerbook/sandbox/offers.ts';
import { namedUuid, type Random } from '@offerbook/sandbox/random.ts';
import { openShops } from '@offerbook/sandbox/shop.ts';
import type { Retailer } from '@offerbook/wire/catalogue.ts';

const SEED = 1;
const PATTERNS = 400;

export interface CatalogueSize {
  readonly retailers: number;
  readonly offers: number;
  readonly coupons: number;
  readonly promotions: number;
}

export const LARGE: CatalogueSize = {
  retailers: 30_000,
  offers: 300_000,
  coupons: 100_000,
  promotions: 50_000,
};
export const SMALL: CatalogueSize = { retailers: 400, offers: 1_500, coupons: 600, promotions: 300 };

export function* makeRetailers(size: CatalogueSize, nowMs: number): Generator<Retailer> {
  const patterns = openShops(SEED, PATTERNS);
  for (let number = 0; number < size.retailers; number++) {
    const first = patterns[number % PATTERNS];
    const second = patterns[Math.floor(number / PATTERNS) % PATTERNS];
    if (first === undefined || second === undefined) throw new Error('too few sandbox shops');
    const hostname = `shop-${number}.example`;
    const shop = { ...first, number, name: `${first.stem} ${second.name}`, hostname };
    const share = (total: number) =>
      Math.floor(((number + 1) * total) / size.retailers) - Math.floor((number * total) / size.retailers);
    const id = namedUuid(SEED, 'retailer', number);
    yield {
      id,
      name: shop.name,
      hostname,
      url: `https://${hostname}/`,
      logo: `https://logos.example/${id}.svg`,
      cashbackOffers: makeOffers(SEED, shop, share(size.offers)),
      coupons: makeCoupons(SEED, shop, share(size.coupons), nowMs),
      promotions: makePromotions(SEED, shop, share(size.promotions), nowMs),
      // The cast is safe: a sandbox test validates its retailers.
    } as Retailer;
  }
}

/** Four to nine characters of a name. */
export function partOf(name: string, random: Random): string {
  const begin = random.whole(0, name.length - 4);
  return name.slice(begin, begin + random.whole(4, 9));
}
