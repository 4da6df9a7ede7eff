// Generates a shop's coupons and promotions for a given moment, as a pure function of the seed.

import type { Category } from './categories.ts';
import { capitalised } from './offers.ts';
import { namedUuid, Random } from './random.ts';
import { COUPON_RHYTHMS, currentOccurrence, PROMOTION_RHYTHMS } from './recurrence.ts';
import { asciiWords } from './retailer-names.ts';
import { printPrice, type Shop } from './shop.ts';
import { type Coupon, type Promotion, printSecond } from './wire.ts';

export function makeCoupons(seed: number, shop: Shop, count: number, nowMs: number): Coupon[] {
  return Array.from({ length: count }, (_, number) => {
    const place = ['coupon', shop.number, number] as const;
    const when = currentOccurrence(new Random(seed, ...place), COUPON_RHYTHMS, nowMs);
    const random = new Random(seed, ...place, when.number);
    const { benefit, figure } = couponBenefit(random, shop);
    return {
      code: couponCode(random, shop, figure),
      id: namedUuid(seed, ...place, when.number),
      description: benefit,
      startDate: printSecond(when.startMs),
      endDate: printSecond(when.endMs),
    };
  });
}

export function makePromotions(seed: number, shop: Shop, count: number, nowMs: number): Promotion[] {
  return Array.from({ length: count }, (_, number) => {
    const place = ['promotion', shop.number, number] as const;
    const when = currentOccurrence(new Random(seed, ...place), PROMOTION_RHYTHMS, nowMs);
    const random = new Random(seed, ...place, when.number);
    const occasion = random.pick(shop.category.occasions);
    return {
      id: namedUuid(seed, ...place, when.number),
      description: promotionText(random, shop, occasion),
      startDate: printSecond(when.startMs),
      endDate: printSecond(when.endMs),
      deepLink: `https://${shop.hostname}/${random.pick(['sale', 'offers', 'c'])}/${asciiWords(occasion.headline)}?ref=offerbook`,
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

function promotionText(random: Random, shop: Shop, occasion: Category['occasions'][number]): string {
  const { headline, goods } = occasion;
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
