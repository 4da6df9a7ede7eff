import { expect, test } from 'bun:test';
import { printAmount, toNumber } from '@offerbook/wire/amount.ts';
import fc from 'fast-check';
import { parseCommaAmount, parseEitherMark } from '../src/localised-amount.ts';
import { minorUnits } from '../src/source/share.ts';

const SEED = { seed: 1 };

test.each([
  ['4,05', '4.05'],
  ['1.234,5', '1234.5'],
  ['1.234', '1234'],
  ['12', '12'],
  ['-0,5', '-0.5'],
  ...['1.23,4', '1,2,3', '4.05'].map((text) => [text, undefined] as const),
] as const)('with a decimal comma, %p is %p', (text, expected) => {
  const amount = parseCommaAmount(text);
  expect(amount && printAmount(amount)).toBe(expected);
});

test('with either decimal separator, an amount is parsed correctly or rejected as ambiguous', () => {
  fc.assert(
    fc.property(fc.nat(99_999_999), fc.constantFrom('en', 'de', 'plain'), (cents, style) => {
      const text = {
        en: (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 }),
        de: (cents / 100).toLocaleString('de-DE', { minimumFractionDigits: 2 }),
        plain: (cents / 100).toFixed(2),
      }[style];
      const amount = parseEitherMark(text);
      expect(amount === undefined ? text : toNumber(amount)).toBe(cents / 100);
    }),
    SEED,
  );
});

test.each([
  ['81,00', 81],
  ['1.081,50', 1081.5],
  ['1,081.50', 1081.5],
  ['1,234,567.00', 1234567],
  ...['1,081', '1.08,1', '81,00,5', '8 1', '81.00 EUR', '1e3', '', '٨١'].map(
    (text) => [text, undefined] as const,
  ),
] as const)('with either decimal separator, %p is %p', (text, expected) => {
  const amount = parseEitherMark(text);
  expect(amount && toNumber(amount)).toBe(expected);
});

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  ['ISK', 0],
  ['RSD', 2],
  ['XXX', 2],
])('%s has %i decimals', (currency, decimals) => {
  expect(minorUnits(currency)).toBe(decimals);
});
