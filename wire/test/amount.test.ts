import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Amount,
  compare,
  multiply,
  parseAmount,
  printAmount,
  ROUNDINGS,
  round,
  sum,
  toNumber,
} from '../src/amount.ts';

const SEED = { seed: 1 };
const anyAmount = fc.record({ units: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), scale: fc.nat(12) });

const read = (text: string): Amount => {
  const amount = parseAmount(text);
  if (amount === undefined) throw new Error(`${text} is not an amount`);
  return amount;
};

test('any formatted amount is parsed back unchanged', () => {
  fc.assert(
    fc.property(anyAmount, (amount) => {
      expect(read(printAmount(amount))).toEqual(amount);
    }),
    SEED,
  );
});

test.each(['', '-', '.5', '5.', '+5', '1e3', '0x1', '1 000', '1,5', '--1', '٣', 'NaN', '9'.repeat(61)])(
  '%p is not an amount',
  (text) => {
    expect(parseAmount(text)).toBeUndefined();
  },
);

test('sums, products and comparisons are exact', () => {
  fc.assert(
    fc.property(anyAmount, anyAmount, (a, b) => {
      const scale = a.scale + b.scale;
      const whole = ({ units, scale: own }: Amount) => units * 10n ** BigInt(scale - own);
      expect(whole(sum([a, b]))).toBe(whole(a) + whole(b));
      expect(multiply(a, b)).toEqual({ units: a.units * b.units, scale });
      expect(Math.sign(compare(a, b))).toBe(whole(a) < whole(b) ? -1 : whole(a) > whole(b) ? 1 : 0);
    }),
    SEED,
  );
  expect(sum([])).toEqual({ units: 0n, scale: 0 });
});

test('rounding changes an amount by at most half a unit in the last place, or less than one unit when rounding down', () => {
  fc.assert(
    fc.property(anyAmount, fc.nat(4), fc.constantFrom(...ROUNDINGS), (amount, decimals, rounding) => {
      const rounded = round(amount, decimals, rounding);
      expect(rounded.scale).toBe(Math.min(amount.scale, decimals));
      const twice = 2n * (rounded.units * 10n ** BigInt(amount.scale - rounded.scale) - amount.units);
      const place = 10n ** BigInt(amount.scale - rounded.scale);
      const moved = twice < 0n ? -twice : twice;
      const isAway = amount.units < 0n ? twice < 0n : twice > 0n;
      if (rounding === 'down') expect([isAway, moved < 2n * place]).toEqual([false, true]);
      else expect(moved <= place).toBe(true);
      if (moved === place && rounding === 'half-up') expect(isAway).toBe(true);
      if (moved === place && rounding === 'half-even') expect(rounded.units % 2n).toBe(0n);
    }),
    { ...SEED, numRuns: 2_000 },
  );
});

test("toNumber() returns the number that the amount's text denotes, or Infinity if no double does", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }), fc.nat(15), (units, scale) => {
      expect(toNumber({ units, scale })).toBe(Number(printAmount({ units, scale })));
    }),
    { ...SEED, numRuns: 2_000 },
  );
  expect(toNumber(read('1234567890.1234567'))).toBe(Number.POSITIVE_INFINITY);
  expect(toNumber(read(`1${'0'.repeat(20)}`))).toBe(Number.POSITIVE_INFINITY);
});
