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

/** The fields in which a shop's offers differ. */
interface Terms {
  readonly cashbackPercentage: number;
  readonly maximumFixedCommissionFee: number | null;
  readonly countries: string[];
  readonly description: string;
}

export function makeOffers(seed: number, shop: Shop, count: number): CashbackOffer[] {
  const goods = new Random(seed, 'goods', shop.number).shuffled(shop.category.goods);
  return Array.from({ length: count }, (_, number) => {
    const random = new Random(seed, 'offer', shop.number, number);
    const terms = termsOf(random, shop, number, goods[number % goods.length] ?? '');
    return {
      id: namedUuid(seed, 'offer', shop.number, number),
      featured: number === 0 && shop.number < FEATURED_SHOPS,
      ...terms,
      category: shop.category.name,
      termsAndExclusions: smallPrint(random, shop, terms.description),
    };
  });
}

function termsOf(random: Random, shop: Shop, number: number, goods: string): Terms {
  if (number === 0) return onEverything(random, shop);
  return random.chance(FIXED_SHARE) ? fixedAmount(random, shop, goods) : percentage(random, shop, goods);
}

function onEverything(random: Random, shop: Shop): Terms {
  const [min, max] = shop.category.percent;
  return {
    // A featured offer should be in the upper half of its category's range.
    cashbackPercentage: halfPercents(
      random.between(shop.number < FEATURED_SHOPS ? (min + max) / 2 : min, max),
    ),
    maximumFixedCommissionFee: null,
    countries: [...shop.countries],
    description: random.pick([
      `On everything at ${shop.name}`,
      `Cashback on every order at ${shop.name}`,
      'The whole range, reduced items included',
      `All of ${shop.name}, online and in the app`,
      'On all orders, with no minimum',
    ]),
  };
}

function percentage(random: Random, shop: Shop, goods: string): Terms {
  const [min, max] = shop.category.percent;
  const minimum = printPrice(shop, random.logBetween(...shop.category.orderValue));
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
      `${capitalised(goods)} ordered in the ${shop.name} app`,
    ]),
  };
}

/**
 * A fixed amount in euros, the sandbox currency. The description states the minimum order in the shop's currency, so the
 * offer covers only countries that use that currency.
 */
function fixedAmount(random: Random, shop: Shop, goods: string): Terms {
  const { currencyCode } = shop.home;
  const minimumEuros = random.logBetween(...shop.category.orderValue);
  const minimum = printPrice(shop, minimumEuros);
  return {
    cashbackPercentage: 0,
    maximumFixedCommissionFee: roundPrice(minimumEuros * random.between(0.05, 0.12)),
    countries: someOf(
      random,
      shop.countries.filter((code) => getCountry(code).currencyCode === currencyCode),
    ),
    description: random.pick([
      `New customers: first order over ${minimum}`,
      `For every order of ${goods} over ${minimum}`,
      `When you spend ${minimum} or more`,
      `For ${goods} over ${minimum} ordered in the app`,
    ]),
  };
}

function smallPrint(random: Random, shop: Shop, description: string): string {
  const [first, second] = random.shuffled(shop.category.exclusions);
  const sentences = random.shuffled([
    'Not on gift cards.',
    'Cashback is calculated on the net value, excluding tax and delivery.',
    'Returned and exchanged items earn nothing.',
    'Cannot be combined with codes that are not shown here.',
    'The order must be placed within 24 hours of activating the offer.',
    'One reward per household.',
    'Orders paid in instalments qualify after the last instalment is paid.',
    `Only orders placed directly on ${shop.hostname} count.`,
    `Confirmed ${random.pick([14, 30, 45, 60])} days after delivery.`,
  ]);
  return [
    `No cashback on ${first} or ${second}.`,
    ...sentences.slice(0, random.whole(1, 3)),
    ...(description.startsWith('New customers')
      ? ['A new customer is someone who has not ordered in the last 24 months.']
      : []),
  ].join(' ');
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
