// Generates the sandbox shops. Other files generate the shops' deals.

import { CATEGORIES } from './categories.ts';
import { COUNTRIES, type Country, REGIONS, roundMoney } from './countries.ts';
import { Random } from './random.ts';
import { asciiWords, inventStems, nameShop } from './retailer-names.ts';

export type Shop = Readonly<ReturnType<typeof openShops>[number]>;

/** Generates the shops for a seed, most popular first. A shop's prices are in the currency of its home country. */
export function openShops(seed: number, count: number) {
  const stems = inventStems(new Random(seed, 'stems'), count);
  return stems.map((stem, number) => {
    const random = new Random(seed, 'shop', number);
    // The first shops cover every category and every country; the rest are random.
    const category = CATEGORIES[number] ?? random.pick(CATEGORIES);
    const home = COUNTRIES[number] ?? random.pickWeighted(COUNTRIES);
    const name = nameShop(random, stem, category);
    const hostname = `${random.chance(0.7) ? 'www' : 'shop'}.${asciiWords(name)}.example`;
    return { number, stem, name, hostname, category, home, countries: markets(random, home) };
  });
}

/** Formats a rounded price in the shop's home currency. */
export function printPrice(shop: Shop, euros: number): string {
  const { currencyCode, unitsPerEuro } = shop.home;
  return `${roundPrice(euros * unitsPerEuro)} ${currencyCode}`;
}

export function roundPrice(amount: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(amount, 10))) / 2;
  return roundMoney(Math.max(step, Math.round(amount / step) * step), 2);
}

/** Codes of the countries that the shop sells to, sorted. */
function markets(random: Random, home: Country): string[] {
  const codes = new Set([home.code]);
  const near = REGIONS.filter((region) => region.includes(home.code));
  if (random.chance(0.7)) for (const code of random.pick(near)) codes.add(code);
  for (let more = random.chance(0.25) ? random.whole(1, 3) : 0; more > 0; more--) {
    for (const code of random.pick(REGIONS)) codes.add(code);
  }
  return [...codes].sort();
}
