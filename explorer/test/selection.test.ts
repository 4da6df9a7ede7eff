import { describe, expect, test } from 'bun:test';
import type { Retailer } from '@offerbook/client';
import fc from 'fast-check';
import { fold as serviceFold } from '../../service/src/catalogue/search/fold.ts';
import { Selection } from '../src/catalogue/selection.ts';
import { fold } from '../src/fold.ts';

function retailer(name: string, offers: Partial<Retailer['cashbackOffers'][number]>[] = []): Retailer {
  return {
    id: name,
    name,
    hostname: `www.${name.toLowerCase()}.example`,
    url: '',
    logo: '',
    coupons: [],
    promotions: [],
    cashbackOffers: offers.map((given) => ({
      id: '',
      featured: false,
      countries: ['DE'],
      cashbackPercentage: 0.05,
      maximumFixedCommissionFee: null,
      description: '',
      category: 'Garden',
      termsAndExclusions: '',
      ...given,
    })),
  };
}

const ALL = { query: '', category: '', country: '' };
const names = (selection: Selection, view: Partial<typeof ALL>) =>
  selection.find({ ...ALL, ...view }).map((found) => found.retailer.name);

test('featured ones come first, both parts by name, numbers by value', () => {
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

describe('filters', () => {
  const selection = new Selection([
    retailer('Split', [
      { category: 'Garden', countries: ['DE'], featured: true },
      { category: 'Books', countries: ['FR'] },
    ]),
    retailer('Both', [{ category: 'books', countries: ['DE', 'FR'] }]),
    retailer('Coupons only'),
  ]);

  test('must all be met by one and the same offer', () => {
    expect(names(selection, { category: 'Books', country: 'DE' })).toEqual(['Both']);
    expect(names(selection, { category: 'BOOKS', country: 'FR' })).toEqual(['Both', 'Split']);
  });

  test('count as featured only by the offers that meet them', () => {
    expect(selection.find({ ...ALL, country: 'DE' }).map(({ featured }) => featured)).toEqual([true, false]);
    expect(selection.find({ ...ALL, country: 'FR' }).map(({ featured }) => featured)).toEqual([false, false]);
  });

  test('offer what there is, each spelling once, with the number of retailers', () => {
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

test('folds like the service, letter by letter', () => {
  for (let code = 0; code < 0x3000; code++) {
    const letter = String.fromCharCode(code);
    expect(fold(letter)).toBe(serviceFold(letter));
  }
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(fold(text)).toBe(serviceFold(text))));
});
