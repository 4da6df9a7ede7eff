import { describe, expect, test } from 'bun:test';
import type { RetailerOffer } from '@offerbook/client';
import { bestOffer } from '@offerbook/wire/deals.ts';
import * as fixtures from '../../service/test/support/fixtures.ts';
import { amountOf, headline } from '../src/browser/catalogue/cashback.ts';

const offer = (cashbackPercentage: number, fixed: number | null = null, countries = ['DE']) =>
  fixtures.offer(1, { countries, cashbackPercentage, maximumFixedCommissionFee: fixed });

describe('the displayed amount of an offer', () => {
  test.each([
    [offer(0.145), undefined, '14.5%'],
    [offer(0, 7.5), 'EUR', '€7.50'],
  ])('%j in %p', (given, currency, text) => {
    expect(amountOf(given, currency)).toEqual({ text, lacksCurrency: false });
  });

  test('the amount is a bare number, marked as lacking a currency, if the operator has not configured a currency', () => {
    const given = offer(0, 7.5, ['GB']);
    expect(amountOf(given, undefined)).toEqual({ text: '7.50', lacksCurrency: true });
    expect(headline([given, offer(0, 5)], undefined)).toEqual({
      text: '7.50',
      lacksCurrency: true,
      isUpTo: true,
    });
  });
});

test('the best offer has the highest percentage, or the highest fixed amount if no offer has a percentage', () => {
  const [low, high, fixed, more] = [offer(0.02), offer(0.08), offer(0, 500), offer(0, 900)];
  expect(bestOffer([low, fixed, high])).toBe(high);
  expect(bestOffer([fixed, more])).toBe(more);
  expect(bestOffer([fixed, low])).toBe(low);
  expect(bestOffer([])).toBeUndefined();
});

test('the headline is the best percentage and the best fixed amount, with "up to" only if other offers pay less', () => {
  const words = (...offers: RetailerOffer[]) => {
    const found = headline(offers, 'EUR');
    return found && (found.isUpTo ? `up to ${found.text}` : found.text);
  };
  expect(words(offer(0.08), offer(0.02))).toBe('up to 8%');
  expect(words(offer(0.08), offer(0.08))).toBe('8%');
  expect(words(offer(0, 5), offer(0.025))).toBe('2.5% or €5');
  expect(words(offer(0, 5), offer(0, 3), offer(0.025))).toBe('up to 2.5% or €5');
  expect(words()).toBeUndefined();
});
