// Generates a shop's coupons and promotions at a given time, as a pure function of the seed.

import { capitalised } from './offers.ts';
import { namedUuid, Random } from './random.ts';
import { currentOccurrence } from './recurrence.ts';
import { asciiWords } from './retailer-names.ts';
import { printPrice, type Shop } from './shop.ts';
import { type Coupon, type Promotion, printSecond } from './wire.ts';

export function makeCoupons(seed: number, shop: Shop, count: number, nowMs: number): Coupon[] {
  return fillSlots(seed, 'coupon', shop, count, nowMs, (random) => {
    const { benefit, figure } = couponBenefit(random, shop);
    return { code: couponCode(random, shop, figure), description: benefit };
  });
}

export function makePromotions(seed: number, shop: Shop, count: number, nowMs: number): Promotion[] {
  return fillSlots(seed, 'promotion', shop, count, nowMs, (random) => {
    const { goods, headlines } = shop.category;
    const number = random.whole(0, headlines.length - 1);
    const headline = headlines[number] ?? '';
    const description = promotionText(random, shop, headline, goods[number] ?? '');
    const folder = random.pick(['sale', 'offers', 'c']);
    const deepLink = `https://${shop.hostname}/${folder}/${asciiWords(headline)}?ref=offerbook`;
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

function promotionText(random: Random, shop: Shop, headline: string, goods: string): string {
  const others = random.pick(shop.category.goods.filter((other) => other !== goods));
  const upTo = random.pick([20, 25, 30, 40, 50, 60]);
  return random.pick([
    `${headline}: up to ${upTo}% off ${goods}`,
    `${headline}: ${goods} from ${printPrice(shop, shop.category.orderValue[0])}`,
    `${headline}: free delivery on all ${goods}`,
    `${capitalised(goods)} reduced by up to ${upTo}%`,
    `${headline} at ${shop.name}`,
    `Members first: early access to ${goods}`,
    `${headline}: buy ${goods}, get ${random.pick([20, 30, 50])}% off ${others}`,
  ]);
}
