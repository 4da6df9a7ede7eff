import { expect, test } from 'bun:test';
import { formatCashback } from '../src/index.ts';

const rate = (cashbackPercentage: number) => ({ cashbackPercentage, maximumFixedCommissionFee: null });
const fixed = (maximumFixedCommissionFee: number) => ({ cashbackPercentage: 0, maximumFixedCommissionFee });

test.each([
  [rate(0.05), 'en', undefined, '5%'],
  // 100 times this is 14.499999999999998.
  [rate(0.145), 'en', undefined, '14.5%'],
  [rate(0.07), 'en', 'EUR', '7%'],
  [rate(0.145), 'de', undefined, '14,5\u00a0%'],
  [rate(0.12345), 'en', undefined, '12.35%'],
  [rate(0), 'en', undefined, '0%'],
  [fixed(7.5), 'en', 'EUR', '€7.50'],
  [fixed(7), 'en', 'EUR', '€7'],
  [fixed(7.5), 'de', 'EUR', '7,50\u00a0€'],
  [fixed(1234.5), 'en', 'USD', '$1,234.50'],
  [fixed(500), 'en', 'JPY', '¥500'],
  // Responses do not name a currency, and the client does not guess one.
  [fixed(7.5), 'en', undefined, '7.50'],
  [fixed(7.5), 'de', undefined, '7,50'],
  [fixed(0), 'en', undefined, '0'],
] as const)('%j in %s and %p is %j', (offer, locale, currency, words) => {
  expect(formatCashback(offer, locale, currency)).toBe(words);
});

test('a fixed amount takes precedence over a percentage', () => {
  expect(formatCashback({ cashbackPercentage: 0.05, maximumFixedCommissionFee: 0.5 }, 'en')).toBe('0.50');
});
