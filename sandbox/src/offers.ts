// Generates a shop's cashback offers: one that covers everything, then others for particular goods, new customers, larger
// orders or some of its countries. Each offer pays a percentage or a fixed amount.

import { getCountry } from './countries.ts';
import { namedUuid, Random } from './random.ts';
import { printPrice, roundPrice, type Shop } from './shop.ts';
import type { CashbackOffer } from './wire.ts';

/** Fraction of fixed-amount offers, not counting a shop's first offer. */
const FIXED_SHARE = 0.27;
/** The first offer of the most popular shops is featured. */
const FEATURED_SHOPS = 120;

/** Worded to follow "No cashback on …". */
const EXCLUSIONS = [
  ...['gift cards', 'limited editions', 'subscriptions', 'pre-orders', 'outlet items', 'spare parts'],
  ...['samples', 'refills', 'repairs', 'delivery passes', 'made-to-order items', 'trade accounts'],
];

export function makeOffers(seed: number, shop: Shop, count: number): CashbackOffer[] {
  const goods = new Random(seed, 'goods', shop.number).shuffled(shop.category.goods);
  return Array.from({ length: count }, (_, number) => {
    const random = new Random(seed, 'offer', shop.number, number);
    const terms =
      number === 0 ? onEverything(random, shop) : onGoods(random, shop, goods[number % goods.length] ?? '');
    return {
      id: namedUuid(seed, 'offer', shop.number, number),
      featured: number === 0 && shop.number < FEATURED_SHOPS,
      ...terms,
      category: shop.category.name,
      termsAndExclusions: smallPrint(random, shop, terms.description),
    };
  });
}

function onEverything(random: Random, shop: Shop) {
  const [min, max] = shop.category.percent;
  // A featured offer should be in the upper half of its category's range.
  const least = shop.number < FEATURED_SHOPS ? (min + max) / 2 : min;
  return {
    cashbackPercentage: halfPercents(random.between(least, max)),
    maximumFixedCommissionFee: null,
    countries: [...shop.countries],
    description: random.pick([
      `On everything at ${shop.name}`,
      'The whole range, reduced items included',
      `All of ${shop.name}, online and in the app`,
      'On all orders, with no minimum',
    ]),
  };
}

/**
 * Fixed amounts are in euros, the sandbox currency. The description states the minimum order in the shop's currency, so a fixed
 * amount covers only countries that use that currency.
 */
function onGoods(random: Random, shop: Shop, goods: string) {
  const [min, max] = shop.category.percent;
  const minimumEuros = random.logBetween(...shop.category.orderValue);
  const minimum = printPrice(shop, minimumEuros);
  if (!random.chance(FIXED_SHARE)) {
    return {
      cashbackPercentage: halfPercents(random.between(min / 2, max * 1.25)),
      maximumFixedCommissionFee: null,
      countries: someOf(random, shop.countries),
      description: random.pick([
        `On all ${goods}`,
        `${capitalised(goods)}, reduced items included`,
        `${capitalised(goods)} at full price`,
        `Orders of ${goods} over ${minimum}`,
        `New customers: first order of ${goods}`,
      ]),
    };
  }
  const { currencyCode } = shop.home;
  const countries = shop.countries.filter((code) => getCountry(code).currencyCode === currencyCode);
  return {
    cashbackPercentage: 0,
    maximumFixedCommissionFee: roundPrice(minimumEuros * random.between(0.05, 0.12)),
    countries: someOf(random, countries),
    description: random.pick([
      `New customers: first order over ${minimum}`,
      `For every order of ${goods} over ${minimum}`,
      `For ${goods} over ${minimum} ordered in the app`,
    ]),
  };
}

function smallPrint(random: Random, shop: Shop, description: string): string {
  const [first, second] = random.shuffled(EXCLUSIONS);
  const sentences = random.shuffled([
    'Cashback is calculated on the net value, excluding tax and delivery.',
    'Returned and exchanged items earn nothing.',
    'The order must be placed within 24 hours of activating the offer.',
    'One reward per household.',
    `Only orders placed directly on ${shop.hostname} count.`,
    `Confirmed ${random.pick([14, 30, 45, 60])} days after delivery.`,
  ]);
  if (description.startsWith('New customers'))
    sentences.unshift('A new customer is someone who has not ordered in the last 24 months.');
  return [`No cashback on ${first} or ${second}.`, ...sentences.slice(0, random.whole(1, 3))].join(' ');
}

function someOf(random: Random, countries: readonly string[]): string[] {
  if (countries.length === 1 || random.chance(0.5)) return [...countries];
  return random.shuffled(countries).slice(0, random.whole(1, countries.length)).sort();
}

/** Rounds a percentage to steps of 0.5 and returns it as the fraction used on the wire. */
function halfPercents(percent: number): number {
  return (Math.max(1, Math.round(percent * 2)) * 5) / 1000;
}

export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
