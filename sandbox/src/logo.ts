// Draws a retailer's logo as SVG: initials or a simple mark on a coloured background. The SVG contains no scripts, styles
// or URLs, and only letters of the retailer's name, so nothing needs escaping.

import { Random } from './random.ts';

interface Colours {
  readonly ground: string;
  readonly shade: string;
  readonly mark: string;
  readonly accent: string;
}

type Draw = (colours: Colours, random: Random) => string;

/** Marks for a 96 × 96 view box. */
const MARKS: readonly Draw[] = [
  // a leaf
  ({ mark, accent }) =>
    `<path d="M22 70C22 38 44 22 74 22c0 32-20 52-46 50z" fill="${mark}"/><path d="M24 74C34 56 46 46 60 38" stroke="${accent}" stroke-width="4" stroke-linecap="round" fill="none"/>`,
  // two overlapping circles
  ({ mark, accent }) =>
    `<circle cx="38" cy="48" r="20" fill="${mark}"/><circle cx="58" cy="48" r="20" fill="${accent}" fill-opacity=".8"/>`,
  // a ring with a dot
  ({ mark, accent }) =>
    `<circle cx="48" cy="48" r="23" fill="none" stroke="${mark}" stroke-width="9"/><circle cx="48" cy="48" r="8" fill="${accent}"/>`,
  // hills under a sun
  ({ mark, accent }) =>
    `<circle cx="62" cy="34" r="9" fill="${accent}"/><path d="M16 70l22-32 16 22 9-11 17 21z" fill="${mark}"/>`,
  // waves
  ({ mark, accent }) =>
    [34, 48, 62]
      .map(
        (y, i) =>
          `<path d="M20 ${y}c9-9 19-9 28 0s19 9 28 0" stroke="${i === 1 ? accent : mark}" stroke-width="6" stroke-linecap="round" fill="none"/>`,
      )
      .join(''),
  // a flower with six petals
  ({ mark, accent }) =>
    `${[0, 60, 120, 180, 240, 300]
      .map(
        (turn) =>
          `<ellipse cx="48" cy="31" rx="8" ry="13" fill="${mark}" transform="rotate(${turn} 48 48)"/>`,
      )
      .join('')}<circle cx="48" cy="48" r="8" fill="${accent}"/>`,
  // four tiles, one of them round
  ({ mark, accent }, random) => {
    const odd = random.whole(0, 3);
    return [0, 1, 2, 3]
      .map((i) => {
        const [x, y] = [26 + (i % 2) * 24, 26 + Math.floor(i / 2) * 24];
        return i === odd
          ? `<circle cx="${x + 10}" cy="${y + 10}" r="10" fill="${accent}"/>`
          : `<rect x="${x}" y="${y}" width="20" height="20" rx="3" fill="${mark}"/>`;
      })
      .join('');
  },
  // an arch
  ({ mark, accent }) =>
    `<path d="M24 72V48a24 24 0 0 1 48 0v24H60V48a12 12 0 0 0-24 0v24z" fill="${mark}"/><circle cx="48" cy="66" r="6" fill="${accent}"/>`,
];

const MARK_SHARE = 0.55;

export function drawLogo(seed: number, retailer: { id: string; name: string }): string {
  const random = new Random(seed, 'logo', retailer.id);
  const colours = chooseColours(random);
  const corner = random.pick([0, 12, 20, 48]);
  const picture = random.chance(MARK_SHARE)
    ? random.pick(MARKS)(colours, random)
    : drawInitials(random, colours, initials(retailer.name));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 96 96"><defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${colours.ground}"/><stop offset="1" stop-color="${colours.shade}"/></linearGradient></defs><rect width="96" height="96" rx="${corner}" fill="url(#g)"/>${picture}</svg>`;
}

/** Light on dark or dark on light, with an accent from across the colour wheel. */
function chooseColours(random: Random): Colours {
  const hue = random.whole(0, 359);
  const across = (hue + random.pick([35, 160, 200, 325])) % 360;
  if (random.chance(0.65)) {
    const lightness = random.whole(28, 42);
    return {
      ground: hsl(hue, 52, lightness),
      shade: hsl(hue + 12, 58, lightness - 9),
      mark: hsl(hue, 45, 95),
      accent: hsl(across, 80, 72),
    };
  }
  return {
    ground: hsl(hue, 60, 92),
    shade: hsl(hue + 12, 55, 85),
    mark: hsl(hue, 55, 30),
    accent: hsl(across, 65, 48),
  };
}

function drawInitials(random: Random, { mark, accent }: Colours, letters: string): string {
  const family = random.pick([
    'Georgia, serif',
    'Helvetica, Arial, sans-serif',
    'Verdana, sans-serif',
    'Palatino, serif',
  ]);
  const size = letters.length === 1 ? 54 : 40;
  const underline = random.chance(0.4)
    ? `<rect x="30" y="72" width="36" height="5" rx="2.5" fill="${accent}"/>`
    : '';
  const y = underline === '' ? 62 : 58;
  return `<text x="48" y="${size === 54 ? y + 4 : y}" text-anchor="middle" font-family="${family}" font-size="${size}" font-weight="${random.pick([400, 700])}" fill="${mark}">${letters}</text>${underline}`;
}

/** One or two different initials, ignoring words such as "The" and "of". */
function initials(name: string): string {
  const words = name
    .split(/[^\p{L}]+/u)
    .filter((word) => !['The', 'House', 'of', 'Company', ''].includes(word));
  const letters = words.slice(0, 2).map((word) => (Array.from(word)[0] ?? '').toUpperCase());
  return [...new Set(letters)].join('');
}

function hsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${hue % 360},${saturation}%,${lightness}%)`;
}
