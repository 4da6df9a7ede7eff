import { describe, expect, test } from 'bun:test';
import type { Retailer } from '@offerbook/client';
import * as fixtures from '../../service/test/support/fixtures.ts';
import { Selection } from '../src/browser/catalogue/selection.ts';
import { EVERYTHING } from '../src/browser/catalogue/view.ts';

function retailer(name: string, offers: Parameters<typeof fixtures.offer>[1][] = []): Retailer {
  return fixtures.retailer(1, {
    name,
    hostname: `www.${name.toLowerCase()}.example`,
    cashbackOffers: offers.map((given) => fixtures.offer(1, { description: '', ...given })),
  });
}

const ALL = EVERYTHING;
const names = (selection: Selection, view: Partial<typeof ALL>) =>
  selection.find({ ...ALL, ...view }).map((found) => found.retailer.name);

test('featured retailers come first, and both groups are sorted by name with numbers in numeric order', () => {
  const selection = new Selection([
    retailer('Shop 10'),
    retailer('Shop 9'),
    retailer('Zoë', [{ featured: true }]),
    retailer('Ägir', [{ featured: true }]),
    retailer('apple'),
  ]);
  expect(names(selection, {})).toEqual(['Ägir', 'Zoë', 'apple', 'Shop 9', 'Shop 10']);
});

describe('search', () => {
  const selection = new Selection([
    retailer('Straßencafé', [{ category: 'Food & Drink' }]),
    retailer('100% Cotton', [{ category: 'Fashion' }]),
  ]);

  test.each([
    ['STRASSENCAFE', ['Straßencafé']],
    ['cafe food', ['Straßencafé']],
    ['  drink  ', ['Straßencafé']],
    ['www.100', ['100% Cotton']],
    ['0%', ['100% Cotton']],
    ['.*', []],
    ['cafe fashion', []],
  ])('%s', (query, found) => {
    expect(names(selection, { query })).toEqual(found);
  });
});

test('search results are ordered by the match: whole name, start of a word, inside a word, website or category', () => {
  const selection = new Selection([
    retailer('Barn', [{ featured: true, category: 'Art' }]),
    retailer('Smart Home', [{ featured: true }]),
    retailer('Modern Art'),
    retailer('Artemis'),
    retailer('Art'),
  ]);
  const found = ['Art', 'Artemis', 'Modern Art', 'Smart Home', 'Barn'];
  expect(names(selection, { query: ' ART ' })).toEqual(found);
  expect(names(selection, { query: 'art', sort: 'name' })).toEqual(found.toSorted());
});

describe('filters', () => {
  const selection = new Selection([
    retailer('Split', [
      { category: 'Garden', countries: ['DE'], featured: true },
      { category: 'Books', countries: ['FR'] },
    ]),
    retailer('Both', [{ category: 'books', countries: ['DE', 'FR'] }]),
    retailer('Coupons only'),
  ]);

  test('a retailer matches only if one offer matches all filters', () => {
    expect(names(selection, { category: 'Books', country: 'DE' })).toEqual(['Both']);
    expect(names(selection, { category: 'BOOKS', country: 'FR' })).toEqual(['Both', 'Split']);
  });

  test('a retailer is featured only if a matching offer is featured', () => {
    const isFeatured = (country: string) =>
      selection.find({ ...ALL, country }).map(({ featured }) => featured !== undefined);
    expect(isFeatured('DE')).toEqual([true, false]);
    expect(isFeatured('FR')).toEqual([false, false]);
  });

  test('filters list each value once, regardless of case, with the number of retailers', () => {
    expect(selection.categories).toEqual([
      { value: 'Books', count: 2 },
      { value: 'Garden', count: 1 },
    ]);
    expect(selection.countries).toEqual([
      { value: 'DE', count: 2 },
      { value: 'FR', count: 2 },
    ]);
  });
});

describe('deal kinds and sort orders', () => {
  const until = (endDate: string) => ({ endDate: fixtures.timestamp(endDate) });
  const coupon = (endDate: string) => fixtures.coupon(1, until(endDate));
  const promotion = (endDate: string) => fixtures.promotion(1, until(endDate));
  const selection = new Selection([
    { ...retailer('Coupons'), coupons: [coupon('2026-12-01T00:00:00'), coupon('2026-11-30T12:00:00.5')] },
    {
      ...retailer('Promotions', [{ maximumFixedCommissionFee: 9 }]),
      promotions: [promotion('2026-11-30T12:00:00')],
    },
    retailer('High', [{ cashbackPercentage: 0.2 }, { cashbackPercentage: 0.01, featured: true }]),
    retailer('Fixed', [{ maximumFixedCommissionFee: 90, cashbackPercentage: 0 }]),
    retailer('Low', [{ cashbackPercentage: 0.02 }]),
  ]);

  test.each([
    ['', ['High', 'Coupons', 'Fixed', 'Low', 'Promotions']],
    ['featured', ['High']],
    ['cashback', ['High', 'Fixed', 'Low', 'Promotions']],
    ['coupons', ['Coupons']],
    ['promotions', ['Promotions']],
  ] as const)('deals=%s', (deals, found) => {
    expect(names(selection, { deals })).toEqual([...found]);
  });

  test.each([
    ['name', ['Coupons', 'Fixed', 'High', 'Low', 'Promotions']],
    // Percentages go before amounts, which cannot be compared with them; then those without cashback.
    ['rate', ['High', 'Low', 'Fixed', 'Promotions', 'Coupons']],
    ['ending', ['Promotions', 'Coupons', 'Fixed', 'High', 'Low']],
  ] as const)('sort=%s', (sort, found) => {
    expect(names(selection, { sort })).toEqual([...found]);
  });

  test('the filter "featured" shows only featured offers', () => {
    const [found] = selection.find({ ...ALL, deals: 'featured' });
    expect(found?.offers.map(({ cashbackPercentage }) => cashbackPercentage)).toEqual([0.01]);
  });
});
