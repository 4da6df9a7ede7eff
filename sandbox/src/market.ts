// The sandbox catalogue indexed by country, for drawing the deal behind a synthetic sale.

import { printSecond } from '@offerbook/wire/timestamp.ts';
import { COUNTRIES, type Country } from './countries.ts';
import type { Random } from './random.ts';
import type { CashbackOffer, Retailer } from './wire.ts';

interface Choice {
  readonly retailer: Retailer;
  readonly offer: CashbackOffer;
}

const SKEW = 2.2;
const COUPON_SHARE = 0.14;
const PROMOTION_SHARE = 0.09;

export class Market {
  readonly #byCountry: ReadonlyMap<string, readonly Choice[]>;

  /** Expects the most popular retailers first. */
  constructor(retailers: readonly Retailer[]) {
    const byCountry = new Map<string, Choice[]>(COUNTRIES.map(({ code }) => [code, []]));
    for (const retailer of retailers) {
      for (const offer of retailer.cashbackOffers) {
        for (const code of offer.countries) byCountry.get(code)?.push({ retailer, offer });
      }
    }
    this.#byCountry = byCountry;
  }

  pick(random: Random, country: Country): Choice {
    return random.pickSkewed(this.#byCountry.get(country.code) ?? [], SKEW);
  }
}

/** Draws the deal that the buyer activated: the offer, or a coupon or promotion that was active at that time. */
export function pickDeal(random: Random, { retailer, offer }: Choice, atMs: number) {
  const at = printSecond(atMs);
  const isActive = (deal: { startDate: string; endDate: string }) =>
    deal.startDate <= at && at < deal.endDate;
  const ids = { cashbackOfferId: null, couponId: null, promotionId: null };
  const draw = random.unit();
  const coupons = draw < COUPON_SHARE ? retailer.coupons.filter(isActive) : [];
  if (coupons.length > 0) return { ...ids, couponId: random.pick(coupons).id };
  const promotions = draw < COUPON_SHARE + PROMOTION_SHARE ? retailer.promotions.filter(isActive) : [];
  if (promotions.length > 0) return { ...ids, promotionId: random.pick(promotions).id };
  return { ...ids, cashbackOfferId: offer.id };
}
