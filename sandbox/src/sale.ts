// One sale as it is first reported: pending, with the click that led to it and whatever the partner's
// application had passed along.

import { getCategory } from './categories.ts';
import { roundMoney } from './countries.ts';
import { pickCountry } from './day-rhythm.ts';
import { type Market, pickDeal } from './market.ts';
import { Random } from './random.ts';
import { reportedAtMs } from './sale-id.ts';
import { printSecond, type Sale } from './wire.ts';

const SECOND_MS = 1_000;
const USERS = 4_000;
/** A few users buy often. */
const USER_SKEW = 2;
/** Sales for which no click is known, because the user asked for the cashback afterwards. */
const CLAIMED_SHARE = 0.02;

export function makeSale(seed: number, id: string, market: Market): Sale {
  const random = new Random(seed, 'sale', id);
  const reportedMs = reportedAtMs(id);
  const soldMs = wholeSecond(reportedMs - random.logBetween(2 * SECOND_MS, 90 * SECOND_MS));
  const clickedMs = wholeSecond(soldMs - random.logBetween(60 * SECOND_MS, 90 * 60 * SECOND_MS));
  const isClaimed = random.chance(CLAIMED_SHARE);

  const country = pickCountry(random, soldMs);
  const choice = market.pick(random, country);
  const [min, max] = getCategory(choice.offer.category).orderValue;
  const { cashbackPercentage, maximumFixedCommissionFee } = choice.offer;
  /** In the money of the country; the offer has it in euros. */
  const fixed = (maximumFixedCommissionFee ?? 0) * country.unitsForEuro;
  // A fixed amount is paid for orders from some value on: never for one that is hardly more than the cashback.
  const leastValue = fixed * random.between(8, 20);
  const wouldPay = Math.max(priceTag(random, min, max) * country.unitsForEuro, leastValue);
  const orderValue = roundMoney(wouldPay, country.decimals);
  return {
    id,
    country: country.code,
    clickedAt: isClaimed ? null : printSecond(clickedMs),
    soldAt: printSecond(soldMs),
    currencyCode: country.currencyCode,
    orderValue,
    cashback: roundMoney(fixed > 0 ? fixed : orderValue * cashbackPercentage, country.decimals),
    activatedAt: isClaimed ? null : printSecond(clickedMs - random.whole(0, 3) * SECOND_MS),
    passbackUid: passbackUid(seed, random),
    passbackData: isClaimed ? null : passbackData(random, country.code),
    status: 'PENDING',
    ...pickDeal(random, choice, soldMs),
  };
}

/** The user's id in the partner's application: opaque to us, the same whenever that user buys. */
function passbackUid(seed: number, random: Random): string {
  const user = Math.floor(random.unit() ** USER_SKEW * USERS);
  const digest = Bun.hash.xxHash64(`${seed}/user/${user}`).toString(36).padStart(13, '0');
  return `usr_${digest.slice(-12)}`;
}

function passbackData(random: Random, country: string): string | null {
  const source = random.pick(['newsletter', 'home', 'search', 'push', 'wishlist', 'deal-of-the-day']);
  const platform = random.pick(['ios', 'ios', 'android', 'android', 'web', 'extension']);
  const session = random.whole(36 ** 6, 36 ** 7 - 1).toString(36);
  return random.pickWeighted(
    [
      { data: `source=${source}&platform=${platform}`, weight: 5 },
      { data: JSON.stringify({ session, platform, placement: random.whole(1, 12) }), weight: 3 },
      { data: `${platform}-${country.toLowerCase()}-${session}`, weight: 2 },
      { data: null, weight: 1 },
    ],
    ({ weight }) => weight,
  ).data;
}

/** Prices end in 0.99, 0.95, 0.50 or nothing; a basket of several things in anything. */
function priceTag(random: Random, min: number, max: number): number {
  const amount = random.logBetween(min, max);
  return random.chance(0.5) ? Math.floor(amount) + random.pick([0, 0.5, 0.95, 0.99]) : amount;
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}
