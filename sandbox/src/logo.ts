// Draws a retailer's logo as SVG: its initials on a coloured background. The SVG contains no scripts, styles or URLs, and only
// letters of the retailer's name, so nothing needs escaping.

import { Random } from './random.ts';

export function drawLogo(seed: number, retailer: { id: string; name: string }): string {
  const random = new Random(seed, 'logo', retailer.id);
  const hue = random.whole(0, 359);
  const [ground, mark] = random.pick([
    ['52%,35%', '45%,95%'],
    ['58%,28%', '80%,75%'],
    ['60%,90%', '55%,30%'],
  ] as const);
  const corner = random.pick([0, 12, 20, 48]);
  const letters = initials(retailer.name);
  const family = random.pick(['Georgia, serif', 'Helvetica, Arial, sans-serif', 'Palatino, serif']);
  const size = random.whole(38, 46);
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 96 96">',
    `<rect width="96" height="96" rx="${corner}" fill="hsl(${hue},${ground})"/>`,
    `<text x="48" y="62" text-anchor="middle" font-family="${family}" font-size="${size}" fill="hsl(${hue},${mark})">${letters}</text>`,
    '</svg>',
  ].join('');
}

/** One or two different initials, ignoring words such as "The" and "of". */
function initials(name: string): string {
  const words = name
    .split(/[^\p{L}]+/u)
    .filter((word) => !['The', 'House', 'of', 'Company', ''].includes(word));
  const letters = words.slice(0, 2).map((word) => (Array.from(word)[0] ?? '').toUpperCase());
  return [...new Set(letters)].join('');
}
