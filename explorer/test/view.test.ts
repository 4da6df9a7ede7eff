import { expect, test } from 'bun:test';
import { EVERYTHING, parseView, printView, type View } from '../src/catalogue/view.ts';

test.each<[string, View]>([
  ['', EVERYTHING],
  [
    '?q=caf%C3%A9+%26+co&category=Food+%26+Drink&country=de',
    { kind: 'list', query: 'café & co', category: 'Food & Drink', country: 'DE' },
  ],
  [
    '?retailer=0192D1A0-0000-7000-8000-000000000001&q=x',
    { kind: 'retailer', id: '0192d1a0-0000-7000-8000-000000000001' },
  ],
  ['?retailer=&utm_source=mail', EVERYTHING],
])('%s', (search, view) => {
  expect(parseView(search)).toEqual(view);
});

test('an address that was printed is read as what it was made from', () => {
  const views: View[] = [
    EVERYTHING,
    { kind: 'list', query: '100% <b>&?#', category: 'Food & Drink', country: 'SE' },
    { kind: 'retailer', id: '0192d1a0-0000-7000-8000-000000000001' },
  ];
  expect(views.map((view) => parseView(new URL(printView(view), 'http://x').search))).toEqual(views);
});
