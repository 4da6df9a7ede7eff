// The colours of all pages, in light and dark mode. Text has a contrast of at least 4.5:1 with its background (WCAG 2, AA).

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const STYLES = join(import.meta.dir, '../src/styles');
const css = ['base.css', 'console.css'].map((name) => readFileSync(join(STYLES, name), 'utf8')).join();
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);

/** Whole pages and large areas. Any text may be on them. */
const AREAS = ['page', 'surface', 'sunken'];
/** Each background with the colours of the text on it. Marks, such as the lines of plots, need only a contrast of 3:1. */
const PAIRS = [
  ...AREAS.map((area) => [area, 4.5, ['text', 'muted', 'accent', 'gold', 'warm']] as const),
  ['accent', 4.5, ['accent-ink']],
  ['accent-soft', 4.5, ['text', 'accent']],
  ['gold-soft', 4.5, ['text', 'gold']],
  ['warm-soft', 4.5, ['text', 'warm']],
  ['surface', 3, ['green', 'amber', 'red', 'blue', 'purple', 'grey']],
] as const;

function luminance(hex = ''): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test.each(['light', 'dark'] as const)(
  'every colour has enough contrast with its backgrounds in %s mode',
  (mode) => {
    const of = (name: string) => luminance(colours.get(name)?.[mode]);
    const weak = PAIRS.flatMap(([background, ratioMin, names]) =>
      names
        .filter((name) => {
          const [dark = 0, light = 0] = [of(name), of(background)].toSorted((a, b) => a - b);
          // Also true if the style sheets have no such colour.
          return !((light + 0.05) / (dark + 0.05) >= ratioMin);
        })
        .map((name) => `${name} on ${background}`),
    );
    expect(weak).toEqual([]);
  },
);
