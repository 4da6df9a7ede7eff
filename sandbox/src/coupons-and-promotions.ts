// Generates a shop's coupons and promotions at a given time, as a pure function of the seed. A shop has a fixed number of slots
// with one deal each; when a deal ends, the next one replaces it. Only a few deals change from one day to the next.

import { DAY_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { capitalised } from './offers.ts';
import { namedUuid, Random } from './random.ts';
import { asciiWords } from './retailer-names.ts';
import { printPrice, type Shop } from './shop.ts';
import type { Coupon, Promotion } from './wire.ts';

/** Days from the start of a deal to the start of the next one in its slot. */
const PERIOD_DAYS = { coupon: { min: 5, max: 120 }, promotion: { min: 4, max: 60 } };

const HEADLINES = [
  ...['Long weekend', 'Early access', 'Thank-you days', 'Season opening', 'Last chance'],
  ...['Members week', 'Treat Tuesday', 'Autumn favourites', 'Fresh start', 'Warehouse sale'],
];

export function makeCoupons(seed: number, shop: Shop, count: number, nowMs: number): Coupon[] {
  return fillSlots(seed, 'coupon', shop, count, nowMs, (random) => {
    const { benefit, figure } = couponBenefit(random, shop);
    return { code: couponCode(random, shop, figure), description: benefit };
  });
}

export function makePromotions(seed: number, shop: Shop, count: number, nowMs: number): Promotion[] {
  return fillSlots(seed, 'promotion', shop, count, nowMs, (random) => {
    const headline = random.pick(HEADLINES);
    const [goods = '', others = ''] = random.shuffled(shop.category.goods);
    const upTo = random.pick([20, 25, 30, 40, 50, 60]);
    const description = random.pick([
      `${headline}: up to ${upTo}% off ${goods}`,
      `${headline}: ${goods} from ${printPrice(shop, shop.category.orderValue[0])}`,
      `${headline}: free delivery on all ${goods}`,
      `${headline}: buy ${goods}, get ${upTo}% off ${others}`,
      `${headline} at ${shop.name}`,
      `${capitalised(goods)} reduced by up to ${upTo}%`,
    ]);
    const deepLink = `https://${shop.hostname}/sale/${asciiWords(headline)}?ref=offerbook`;
    return { description, deepLink };
  });
}

function fillSlots<Deal>(
  seed: number,
  kind: 'coupon' | 'promotion',
  shop: Shop,
  count: number,
  nowMs: number,
  make: (random: Random) => Deal,
) {
  return Array.from({ length: count }, (_, number) => {
    const slot = [seed, kind, shop.number, number] as const;
    const when = currentOccurrence(new Random(...slot), kind, nowMs);
    return {
      id: namedUuid(...slot, when.number),
      startDate: printSecond(when.startMs),
      endDate: printSecond(when.endMs),
      ...make(new Random(...slot, when.number)),
    };
  });
}

/**
 * Returns the dates of the active deal of a slot, and its sequence number. In the pause between two deals, the catalogue already
 * lists the next one. A deal starts at midnight UTC and ends a second before midnight.
 */
function currentOccurrence(random: Random, kind: keyof typeof PERIOD_DAYS, nowMs: number) {
  const { min, max } = PERIOD_DAYS[kind];
  const periodDays = Math.round(random.logBetween(min, max));
  const pauseDays = random.whole(1, Math.ceil(periodDays / 20));
  const phaseMs = random.whole(0, periodDays - 1) * DAY_MS;
  const periodMs = periodDays * DAY_MS;
  const activeMs = periodMs - pauseDays * DAY_MS - 1000;
  const number = Math.floor((nowMs - phaseMs - activeMs) / periodMs) + 1;
  const startMs = phaseMs + number * periodMs;
  return { number, startMs, endMs: startMs + activeMs };
}

function couponBenefit(random: Random, shop: Shop): { benefit: string; figure: string } {
  const goods = random.pick(shop.category.goods);
  const percent = random.pick([5, 10, 10, 15, 15, 20, 20, 25, 30]);
  const minimumEuros = random.logBetween(...shop.category.orderValue);
  const minimum = printPrice(shop, minimumEuros);
  const reduction = printPrice(shop, minimumEuros * random.between(0.08, 0.2));
  return random.pick([
    { benefit: `${percent}% off all ${goods}`, figure: String(percent) },
    { benefit: `${percent}% off your first order`, figure: String(percent) },
    { benefit: `Extra ${percent}% off reduced ${goods}`, figure: String(percent) },
    { benefit: `${percent}% off orders over ${minimum}`, figure: String(percent) },
    { benefit: `${reduction} off orders over ${minimum}`, figure: reduction.replace(/\D.*$/, '') },
    { benefit: `Free delivery on orders over ${minimum}`, figure: 'SHIP' },
    { benefit: `Buy two, get the third free on ${goods}`, figure: '3FOR2' },
    { benefit: `A free gift with ${goods} over ${minimum}`, figure: 'GIFT' },
  ]);
}

function couponCode(random: Random, shop: Shop, figure: string): string {
  const stem = asciiWords(shop.stem).toUpperCase();
  const word = random.pick(['HELLO', 'SAVE', 'EXTRA', 'WEEKEND', 'THANKS', 'ENJOY', 'MYCLUB', 'TREAT']);
  const tail = random
    .whole(36 ** 3, 36 ** 4 - 1)
    .toString(36)
    .toUpperCase();
  return random.pick([
    `${stem}${figure}`,
    `${word}${figure}`,
    `${word}-${figure}-${tail}`,
    `${stem.slice(0, 4)}-${tail}`,
  ]);
}
