// Generates an order's value and cashback, in the currency of the country where the order is placed.

import { getCategory } from './categories.ts';
import { type Country, roundMoney } from './countries.ts';
import type { Random } from './random.ts';
import type { CashbackOffer } from './wire.ts';

export type Order = Readonly<ReturnType<typeof makeOrder>>;

export function makeOrder(random: Random, offer: CashbackOffer, country: Country) {
  const [min, max] = getCategory(offer.category).orderValue;
  const { cashbackPercentage, maximumFixedCommissionFee } = offer;
  // Offers state fixed amounts in euros.
  const fixed = (maximumFixedCommissionFee ?? 0) * country.unitsPerEuro;
  // A shop pays a fixed amount only for orders worth several times that amount.
  const leastValue = fixed * random.between(8, 20);
  const price = Math.max(priceTag(random, min, max) * country.unitsPerEuro, leastValue);
  const orderValue = roundMoney(price, country.decimals);
  return {
    country: country.code,
    currencyCode: country.currencyCode,
    orderValue,
    cashback: roundMoney(fixed > 0 ? fixed : orderValue * cashbackPercentage, country.decimals),
  };
}

/** Single items end in .00, .50, .95 or .99; baskets of several items can end in anything. */
function priceTag(random: Random, min: number, max: number): number {
  const amount = random.logBetween(min, max);
  return random.chance(0.5) ? Math.floor(amount) + random.pick([0, 0.5, 0.95, 0.99]) : amount;
}
