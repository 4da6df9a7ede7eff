// The console's building blocks, with boundary values.

import { expect, test } from 'bun:test';
import { textOf } from '../../service/test/console/open-console.ts';
import { ago, amount, duration, share, shareBar, shellWord, shownOf } from '../src/console/elements.ts';

test.each([
  'acme',
  "o'neill",
  "'; echo broken; '",
  'two words',
  '$(id) `id` "x" \\ * ! #',
  '-flag=1',
  '',
  'tab\tand newline\n.',
])('a shell reads %j as one word', (word) => {
  const { stdout } = Bun.spawnSync(['sh', '-c', `printf '[%s]' ${shellWord(word)}`]);
  expect(stdout.toString()).toBe(`[${word}]`);
});

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [89_000, '89 s'],
  [90_000, '2 min'],
  [90 * 60_000 - 1_000, '90 min'],
  [90 * 60_000, '2 h'],
  [48 * 3_600_000 - 1_000, '48 h'],
  [48 * 3_600_000, '2 d'],
])('a duration of %d ms is formatted as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [undefined, 'never'],
  [null, 'never'],
  [-999, 'now'],
  [999, 'now'],
  [-1_000, 'in 1 s'],
  [1_000, '1 s ago'],
])('a time %p ms ago is formatted as %s', (agoMs, text) => {
  const nowMs = 60_000;
  const ms = agoMs === null || agoMs === undefined ? agoMs : nowMs - agoMs;
  expect(ago(ms, nowMs).text.replaceAll(/<[^>]*>/g, '')).toBe(text);
});

test.each([
  [0, 0, '–'],
  [0, 7, '0.0%'],
  [1, 11, '9.09%'],
  [1, 10, '10.0%'],
  [7, 7, '100.0%'],
])('%d of %d is formatted as %s', (part, whole, text) => {
  expect(textOf(share(part, whole).text)).toBe(text);
});

test.each([
  [0, 'EUR', '0.00 EUR'],
  [999.5, 'EUR', '999.50 EUR'],
  [1_000, 'JPY', '1,000 JPY'],
  [0.5, 'JPY', '0.5 JPY'],
  [1_234_567.8914, 'KWD', '1,234,567.8914 KWD'],
  [1, 'KWD', '1.000 KWD'],
  [1_000, 'ZZZ', '1,000.00 ZZZ'],
])('the amount %d %s is formatted as %s', (value, currency, text) => {
  expect(textOf(amount(value, currency).text)).toBe(text);
});

test("a bar's width is its percentage of the total, and 0 if the total is 0", () => {
  const widths = [shareBar(0, 0), shareBar(1, 4), shareBar(4, 4)].map(
    ({ text }) => /<rect width="([^"]+)"/.exec(text)?.[1],
  );
  expect(widths).toEqual(['0.0', '25.0', '100.0']);
});

test('a table has a note only if it does not show every row', () => {
  expect(shownOf('newest', 100, 100)).toBeUndefined();
  expect(textOf(shownOf('newest', 100, 1_101)?.text ?? '')).toBe('The newest 100 of 1,101.');
});
