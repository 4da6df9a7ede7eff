// What an order costs and what it earns, in the money of the country in which it is placed.

import { getCategory } from './categories.ts';
import { type Country, roundMoney } from './countries.ts';
import type { Random } from './random.ts';
import type { CashbackOffer, Sale } from './wire.ts';

export type Order = Pick<Sale, 'country' | 'currencyCode' | 'orderValue' | 'cashback'>;

export function makeOrder(random: Random, offer: CashbackOffer, country: Country): Order {
  const [min, max] = getCategory(offer.category).orderValue;
  const { cashbackPercentage, maximumFixedCommissionFee } = offer;
  /** In the money of the country; the offer has it in euros. */
  const fixed = (maximumFixedCommissionFee ?? 0) * country.unitsForEuro;
  // A fixed amount is paid for orders from some value on: never for one that is hardly more than the cashback.
  const leastValue = fixed * random.between(8, 20);
  const wouldPay = Math.max(priceTag(random, min, max) * country.unitsForEuro, leastValue);
  const orderValue = roundMoney(wouldPay, country.decimals);
  return {
    country: country.code,
    currencyCode: country.currencyCode,
    orderValue,
    cashback: roundMoney(fixed > 0 ? fixed : orderValue * cashbackPercentage, country.decimals),
  };
}

/** Prices end in 0.99, 0.95, 0.50 or nothing; a basket of several things in anything. */
function priceTag(random: Random, min: number, max: number): number {
  const amount = random.logBetween(min, max);
  return random.chance(0.5) ? Math.floor(amount) + random.pick([0, 0.5, 0.95, 0.99]) : amount;
}
