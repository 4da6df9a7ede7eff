import { expect, test } from 'bun:test';
import { EVERYTHING, parseView, printView, type View } from '../src/browser/catalogue/view.ts';

test.each<[string, View]>([
  ['', EVERYTHING],
  [
    '?q=caf%C3%A9+%26+co&category=Food+%26+Drink&country=de',
    { ...EVERYTHING, query: 'café & co', category: 'Food & Drink', country: 'DE' },
  ],
  [
    '?retailer=0192D1A0-0000-7000-8000-000000000001&q=x',
    { kind: 'retailer', id: '0192d1a0-0000-7000-8000-000000000001', country: '' },
  ],
  ['?retailer=x&country=de', { kind: 'retailer', id: 'x', country: 'DE' }],
  ['?deals=coupons&sort=ending', { ...EVERYTHING, deals: 'coupons', sort: 'ending' }],
  ['?deals=toString&sort=worst', EVERYTHING],
  ['?view=transactions', { kind: 'transactions' }],
  ['?view=other', EVERYTHING],
  ['?retailer=&utm_source=mail', EVERYTHING],
])('%s', (search, view) => {
  expect(parseView(search)).toEqual(view);
});

test('parseView() is the inverse of printView()', () => {
  const views: View[] = [
    EVERYTHING,
    { ...EVERYTHING, query: '100% <b>&?#', category: 'Food & Drink', country: 'SE' },
    { ...EVERYTHING, deals: 'featured', sort: 'rate' },
    { kind: 'retailer', id: '0192d1a0-0000-7000-8000-000000000001', country: 'DE' },
    { kind: 'transactions' },
  ];
  expect(views.map((view) => parseView(new URL(printView(view), 'http://x').search))).toEqual(views);
});
