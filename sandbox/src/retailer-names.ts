// Invents unique shop names. The parts of a name are rare or invented, because combinations of common words are often real
// brands.

import type { Category } from './categories.ts';
import type { Random } from './random.ts';

const STYLES: readonly { heads: readonly string[]; tails: readonly string[] }[] = [
  {
    heads: [
      ...['Thorn', 'Bram', 'Quill', 'Wren', 'Hazel', 'Ember', 'Tallow', 'Sable', 'Merrow', 'Pell'],
      ...['Cobble', 'Lark', 'Osier', 'Briar', 'Fennel', 'Marl', 'Rook', 'Tansy', 'Sorrel', 'Yarrow'],
    ],
    tails: [
      ...['wick', 'mere', 'stow', 'combe', 'leigh', 'garth'],
      ...['holt', 'beck', 'thwaite', 'fold', 'marsh', 'haven'],
    ],
  },
  {
    heads: ['Kvar', 'Ulv', 'Blå', 'Grü', 'Tol', 'Fal', 'Grim', 'Kvis', 'Ryd', 'Skål', 'Vint', 'Häl'],
    tails: [
      ...['vikka', 'borgen', 'hede', 'stranda', 'nesset', 'bruck'],
      ...['dala', 'quell', 'kamp', 'marka', 'lunda'],
    ],
  },
  {
    heads: ['Sola', 'Vele', 'Mira', 'Cala', 'Brí', 'Ori', 'Ludo', 'Zefi', 'Pala', 'Nové', 'Tessa', 'Amba'],
    tails: [
      ...['rista', 'venta', 'doro', 'mello', 'landa', 'quinta'],
      ...['zano', 'fiore', 'nara', 'lume', 'vello', 'brisa'],
    ],
  },
];

/** Returns distinct stems in random order. Each stem can be a shop name by itself. */
export function inventStems(random: Random, count: number): string[] {
  const all = STYLES.flatMap(({ heads, tails }) =>
    // Avoid a doubled letter where the parts meet, as in "Quillleigh".
    heads.flatMap((head) => tails.filter((tail) => tail[0] !== head.at(-1)).map((tail) => head + tail)),
  );
  if (count > all.length) throw new Error(`cannot invent ${count} names: only ${all.length} exist`);
  return random.shuffled(all).slice(0, count);
}

export function nameShop(random: Random, stem: string, category: Category): string {
  const trade = random.pick(category.trade);
  return random.pickWeighted([
    { name: stem, weight: 25 },
    { name: `${stem} ${trade}`, weight: 54 },
    { name: `${stem} & ${random.pick(['Co', 'Sons', 'Daughters', 'Finch', 'Vale'])}`, weight: 11 },
    { name: `House of ${stem}`, weight: 3 },
    { name: `The ${stem} ${trade} Company`, weight: 4 },
    { name: `${stem} Direct`, weight: 3 },
  ]).name;
}

/** ASCII form for hostnames and coupon codes: "Grüquell & Co" → "gruquell-co". */
export function asciiWords(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
