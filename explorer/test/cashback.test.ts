import { describe, expect, test } from 'bun:test';
import { bestOffer, cashbackAmount, headline, type Offer } from '../src/catalogue/cashback.ts';

function offer(cashbackPercentage: number, fixed: number | null = null, countries = ['DE']): Offer {
  return {
    id: '',
    featured: false,
    countries,
    cashbackPercentage,
    maximumFixedCommissionFee: fixed,
    description: '',
    category: '',
    termsAndExclusions: '',
  };
}

describe('an offer in words', () => {
  test.each([
    [offer(0.05), '5%'],
    [offer(0.145), '14.5%'],
    [offer(0.12345), '12.35%'],
    [offer(0), '0%'],
    [offer(0, 7.5), '€7.50'],
    [offer(0, 7), '€7'],
    [offer(0, 7.5, ['GB']), '£7.50'],
    [offer(0, 1234.5, ['US']), '$1,234.50'],
    [offer(0, 500, ['SE']), 'kr\u00a0500'],
    [offer(0, 7.5, ['DE', 'AT']), '€7.50'],
    // In which of the two currencies it is meant cannot be told.
    [offer(0, 7.5, ['DE', 'GB']), '7.50'],
    [offer(0, 7.5, ['ZZ']), '7.50'],
    [offer(0, 7.5, []), '7.50'],
  ])('%j', (given, words) => {
    expect(cashbackAmount(given)).toBe(words);
  });
});

test('the best offer is the highest percentage, and a fixed amount only where there is none', () => {
  const [low, high, fixed, more] = [offer(0.02), offer(0.08), offer(0, 500), offer(0, 900)];
  expect(bestOffer([low, fixed, high])).toBe(high);
  expect(bestOffer([fixed, more])).toBe(more);
  expect(bestOffer([fixed, low])).toBe(low);
  expect(bestOffer([])).toBeUndefined();
});

test('"up to" is said only where there is less to be had, too', () => {
  expect(headline([offer(0.08), offer(0.02)])).toBe('Up to 8%');
  expect(headline([offer(0.08), offer(0.08)])).toBe('8%');
  expect(headline([])).toBeUndefined();
});
