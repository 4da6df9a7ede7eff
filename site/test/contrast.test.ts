// The colours of all pages, in light and dark mode. Text has a contrast of at least 4.5:1 with its background (WCAG 2, AA).

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STYLES = join(import.meta.dir, '../src/styles');
const TEXT_RATIO = 4.5;
/** For marks that are not text, such as the lines of plots. */
const MARK_RATIO = 3;
const MARK_AREA = 'var(--surface)';
/** Backgrounds of whole pages and large areas. Any text may be on them. */
const AREAS = ['var(--page)', 'var(--surface)', 'var(--sunken)'];
/** Colours that text inherits, also links. */
const INHERITED = ['var(--text)', 'var(--accent)'];
/** Values that set no colour, and the shade behind dialogs. */
const NO_COLOUR = /^(inherit|none|currentcolor|rgb\(0 0 0 \/ 45%\)|linear-gradient\(.*\))$/s;
/** The lines and legends of plots. */
const MARK = /^\.(green|amber|red|blue|purple|grey)$/;

/** Hues of the generated logos. */
const HUES = Array.from({ length: 36 }, (_, i) => 10 * i);

type Rgb = readonly [number, number, number];
interface Rule {
  readonly selector: string;
  readonly color?: string | undefined;
  readonly background?: string | undefined;
}

const css = readdirSync(STYLES)
  .map((name) => readFileSync(join(STYLES, name), 'utf8'))
  .join('\n')
  .replaceAll(/\/\*.*?\*\//gs, '');
const variables = new Map(
  [...css.matchAll(/(--[\w-]+): (light-dark\(.+?\));/g)].map(([, name, value]) => [name, value]),
);

/** All rules that set colours, except for ::before and ::after, which have no text. */
function listRules(): Rule[] {
  const rules = [...css.matchAll(/([^{};]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => {
    const value = (name: string) => new RegExp(`(?:^|[;\\s])${name}: ([^;]+);`).exec(body)?.[1];
    return { selector: selector.trim(), color: value('color'), background: value('background') };
  });
  const colorOf = (selector: string) =>
    rules.find((rule) => rule.selector.split(/,\s*/).includes(selector))?.color;
  return rules
    .filter(
      ({ selector, color, background }) =>
        (color ?? background) !== undefined && !/::(before|after)/.test(selector),
    )
    .map((rule) => ({ ...rule, color: rule.color ?? colorOf(rule.selector.replace(':hover', '')) }));
}

/** The colour in a mode, for each hue of the generated logos; undefined if the declaration sets none. */
function parse(value: string, mode: 'light' | 'dark', hue: number): Rgb | undefined {
  const resolved = value.replaceAll(/var\((--[\w-]+)\)/g, (text, name) => variables.get(name) ?? text);
  const [, light, dark] = /^light-dark\((.+), (.+)\)$/.exec(resolved) ?? [];
  const chosen = (mode === 'light' ? light : dark) ?? resolved;
  const [, hex] = /^#([0-9a-f]{6})$/.exec(chosen) ?? [];
  if (hex !== undefined)
    return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb;
  const [, saturation, lightness] = /^hsl\(var\(--hue\) (\d+)% (\d+)%\)$/.exec(chosen) ?? [];
  if (saturation !== undefined) return fromHsl(hue, Number(saturation) / 100, Number(lightness) / 100);
  const [, first = '', share, second = ''] = /^color-mix\(in srgb, (.+) (\d+)%, (.+)\)$/.exec(value) ?? [];
  if (share === undefined) return undefined;
  const [one, other] = [parse(first, mode, hue), parse(second, mode, hue)];
  const weight = Number(share) / 100;
  return one?.map((part, i) => part * weight + (other?.[i] ?? 0) * (1 - weight)) as unknown as Rgb;
}

function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const part = (n: number) => {
    const k = (n + hue / 30) % 12;
    return (
      lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    );
  };
  return [part(0), part(8), part(4)];
}

function contrast(one: Rgb, other: Rgb): number {
  const luminance = (colour: Rgb) => {
    const [r = 0, g = 0, b = 0] = colour.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test.each(['light', 'dark'] as const)(
  'every text colour has enough contrast with its backgrounds in %s mode',
  (mode) => {
    const problems = listRules().flatMap(({ selector, color, background }) => {
      const isMark = MARK.test(selector);
      const colours = color === undefined || color === 'inherit' ? INHERITED : [color];
      const areas = isMark ? [MARK_AREA] : AREAS;
      const backgrounds = background === undefined || background === 'none' ? areas : [background];
      const unknown = [...colours, ...backgrounds].filter(
        (value) => !NO_COLOUR.test(value) && !parse(value, mode, 0),
      );
      const pairs = colours.flatMap((one) => backgrounds.map((other) => [one, other] as const));
      const weak = pairs.filter(([one, other]) =>
        HUES.some((hue) => {
          const [text, ground] = [parse(one, mode, hue), parse(other, mode, hue)];
          return text && ground && contrast(text, ground) < (isMark ? MARK_RATIO : TEXT_RATIO);
        }),
      );
      return [...unknown, ...weak].map((problem) => `${selector}: ${problem}`);
    });
    expect(problems).toEqual([]);
  },
);
