// The articles of the sandbox's toy shop, and the sale for a purchase of one of them. Because the visitor is watching, the sale
// is always confirmed within a minute and never changes afterwards, unlike other synthetic sales.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { getCategory } from './categories.ts';
import { getCountry } from './countries.ts';
import { capitalised } from './offers.ts';
import { Random } from './random.ts';
import { makeOrder } from './sale.ts';
import { courseOf, REAL_PACE } from './sale-course.ts';
import { SALES_PER_CELL_MAX, saleId } from './sale-id.ts';
import type { Retailer } from './wire.ts';

const CONFIRMED_WITHIN_MS = 60_000;
const ARTICLES = 4;

/** An article, with the order that buys it. */
export type Article = Readonly<ReturnType<typeof makeArticles>[number]>;

/**
 * Every visitor with the same deal sees the same articles and prices. Cashback and country come from the activated offer;
 * otherwise, from the retailer's first offer, which covers all articles. `dealId` is undefined if it is not known.
 */
export function makeArticles(seed: number, retailer: Retailer, dealId: string | undefined) {
  const [onEverything, ...others] = retailer.cashbackOffers;
  const offer = others.find(({ id }) => id === dealId) ?? onEverything;
  const [country] = offer?.countries ?? [];
  if (offer === undefined || country === undefined)
    throw new Error(`${retailer.name} has no offer in a country`);
  const goods = new Random(seed, 'articles', retailer.id).shuffled(getCategory(offer.category).goods);
  return goods.slice(0, ARTICLES).map((name, number) => ({
    name: capitalised(name),
    order: makeOrder(new Random(seed, 'article', offer.id, number), offer, getCountry(country)),
  }));
}

export type Purchase = Readonly<ReturnType<typeof makePurchase>>;

/** The sale as a network reports it: the click id replaces the fields that the recorded click already has. */
export function makePurchase(seed: number, nowMs: number, clickId: string, { order }: Article) {
  return {
    id: findId(seed, nowMs),
    clickId,
    // Keeps the milliseconds: truncated to seconds, the sale could precede its click.
    soldAt: printTimestamp(nowMs),
    ...order,
    status: 'PENDING' as const,
  };
}

/** Searches for an id whose life cycle ends with a confirmation. Counts down, because random sales use low numbers. */
function findId(seed: number, nowMs: number): string {
  for (let number = SALES_PER_CELL_MAX - 1; number > 0; number--) {
    const id = saleId(seed, nowMs, number);
    const { outcome, settledAtMs, correctedAtMs, reversedAtMs } = courseOf(seed, id, REAL_PACE);
    const isLasting = correctedAtMs === undefined && reversedAtMs === undefined && outcome === 'CONFIRMED';
    if (isLasting && settledAtMs <= nowMs + CONFIRMED_WITHIN_MS) return id;
  }
  throw new Error('found no sale id that is confirmed within a minute and stays confirmed');
}
