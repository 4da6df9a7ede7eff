// Generates a sale as it is first reported: pending, with its click times and the partner's passback values; and the order behind
// it, in the currency of the country where the order is placed.

import { SECOND_MS, wholeSecond } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { getCategory } from './categories.ts';
import { COUNTRIES, type Country, roundMoney } from './countries.ts';
import { type Market, pickDeal } from './market.ts';
import { Random } from './random.ts';
import { reportedAtMs } from './sale-id.ts';
import type { CashbackOffer, Sale } from './wire.ts';

const USERS = 4_000;
/** A value above 1 makes a few users buy often. */
const USER_SKEW = 2;
/** Fraction of sales without a recorded click; their users claimed the cashback afterwards. */
const CLAIMED_SHARE = 0.02;

export function makeSale(seed: number, id: string, market: Market): Sale {
  const random = new Random(seed, 'sale', id);
  const reportedMs = reportedAtMs(id);
  const soldMs = wholeSecond(reportedMs - random.logBetween(2 * SECOND_MS, 90 * SECOND_MS));
  const clickedMs = wholeSecond(soldMs - random.logBetween(60 * SECOND_MS, 90 * 60 * SECOND_MS));
  const isClaimed = random.chance(CLAIMED_SHARE);

  const country = random.pickWeighted(COUNTRIES);
  const choice = market.pick(random, country);
  const order = makeOrder(random, choice.offer, country);
  return {
    id,
    ...order,
    clickedAt: isClaimed ? null : printSecond(clickedMs),
    soldAt: printSecond(soldMs),
    activatedAt: isClaimed ? null : printSecond(clickedMs - random.whole(0, 3) * SECOND_MS),
    passbackUid: passbackUid(seed, random),
    passbackData: isClaimed ? null : passbackData(random, country.code),
    status: 'PENDING',
    ...pickDeal(random, choice, soldMs),
    retailerId: choice.retailer.id,
  };
}

/** An opaque user id from the partner's application. */
function passbackUid(seed: number, random: Random): string {
  const user = Math.floor(random.unit() ** USER_SKEW * USERS);
  const digest = Bun.hash.xxHash64(`${seed}/user/${user}`).toString(36).padStart(13, '0');
  return `usr_${digest.slice(-12)}`;
}

function passbackData(random: Random, country: string): string | null {
  const source = random.pick(['newsletter', 'home', 'search', 'push', 'wishlist', 'deal-of-the-day']);
  const platform = random.pick(['ios', 'ios', 'android', 'android', 'web', 'extension']);
  const session = random.whole(36 ** 6, 36 ** 7 - 1).toString(36);
  return random.pickWeighted([
    { data: `source=${source}&platform=${platform}`, weight: 5 },
    { data: JSON.stringify({ session, platform, placement: random.whole(1, 12) }), weight: 3 },
    { data: `${platform}-${country.toLowerCase()}-${session}`, weight: 2 },
    { data: null, weight: 1 },
  ]).data;
}

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
