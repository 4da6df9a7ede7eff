import { describe, expect, test } from 'bun:test';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { coupon, id, offer, promotion, retailer } from '../support/fixtures.ts';
import { loadCatalogue, readerOf, START_MS } from './arbitrary-catalogue.ts';
import { readPage } from './read-page.ts';

const clock = () => START_MS;
const ALL = { cursor: undefined, limit: 1000 };
const LISTS = ['retailers', 'cashbackOffers', 'coupons', 'promotions'] as const;

/** Every string of a retailer contains the version, so that a mixture of two versions is detected. */
function retailers(count: number, version: string): Retailer[] {
  return Array.from({ length: count }, (_, number) =>
    retailer(number, {
      name: version,
      hostname: version,
      cashbackOffers: [1, 2].map((index) =>
        offer(1_000 + 2 * number + index, { description: version, category: version }),
      ),
    }),
  );
}

function printed(some: readonly Retailer[]): string[] {
  return some.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(printRetailer);
}

describe('loading a snapshot', () => {
  test('before the first snapshot, requests get 503 with Retry-After', () => {
    const catalogue = new Catalogue(clock);
    expect(catalogue.snapshot).toBeUndefined();
    const ask = () => catalogue.current.list('retailers');
    expect(ask).toThrow(expect.objectContaining({ code: 'unavailable', headers: { 'Retry-After': '1' } }));
  });

  test('a walk across a snapshot change never shows part of a retailer, and a view in use does not change', async () => {
    const catalogue = await loadCatalogue(retailers(50, 'old'));
    const held = catalogue.current.list('retailers');
    const heldPage = readPage(held, ALL);

    const seen: string[] = [];
    let cursor: Uuid | undefined;
    for (let pages = 0; pages === 0 || (cursor !== undefined && pages < 20); pages++) {
      if (pages === 3) catalogue.replace(await buildSnapshotData(readerOf(retailers(50, 'new'))));
      const page = readPage(catalogue.current.list('retailers'), { cursor, limit: 7 });
      seen.push(...page.items);
      cursor = page.cursor;
    }
    expect(seen).toEqual([
      ...printed(retailers(50, 'old')).slice(0, 21),
      ...printed(retailers(50, 'new')).slice(21),
    ]);
    expect(readPage(held, ALL)).toEqual(heldPage);
  });
});

test('finds retailers and deals by id, and whether they are active', async () => {
  let nowMs = START_MS;
  const shop = retailer(1, {
    cashbackOffers: [offer(11)],
    coupons: [coupon(21, { endDate: printTimestamp(START_MS + 1) })],
    promotions: [promotion(31, { startDate: printTimestamp(START_MS + 1) })],
  });
  const catalogue = await loadCatalogue([shop], () => nowMs);
  const { url } = shop;
  const entry = { retailerId: id(1), retailerUrl: url, retailerDomains: ['r1.example'], url, isActive: true };
  const found = () => [
    catalogue.current.find('retailers', id(1)),
    catalogue.current.find('cashbackOffers', id(11)),
    catalogue.current.find('coupons', id(21)),
    catalogue.current.find('promotions', id(31)),
  ];
  const deepLink = 'https://www.example.com/p31';
  expect(found()).toEqual([entry, entry, entry, { ...entry, url: deepLink, isActive: false }]);
  nowMs += 1;
  expect(found()).toEqual([entry, entry, { ...entry, isActive: false }, { ...entry, url: deepLink }]);
  for (const list of LISTS) expect(catalogue.current.find(list, id(99))).toBeUndefined();
});

test('all arrays of a snapshot are in shared memory, so that threads share them without copying', async () => {
  const notShared: string[] = [];
  function look(value: unknown, path: string): void {
    if (ArrayBuffer.isView(value)) {
      if (!(value.buffer instanceof SharedArrayBuffer)) notShared.push(path);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, field] of Object.entries(value)) look(field, `${path}.${name}`);
    }
  }
  look(await buildSnapshotData(readerOf(retailers(3, 'shared'))), 'data');
  expect(notShared).toEqual([]);
});

test('a hostname that several retailers share selects all of them', async () => {
  const shared = [1, 2, 3].map((number) =>
    retailer(number, { hostname: 'shop.example', cashbackOffers: [offer(10 + number)] }),
  );
  const loaded = await loadCatalogue([...shared, retailer(4, { cashbackOffers: [offer(14)] })]);
  const { items } = readPage(loaded.current.list('retailers'), { ...ALL, hostname: 'www.shop.example' });
  expect(items.map((item) => (JSON.parse(item) as Retailer).id)).toEqual([id(1), id(2), id(3)]);
});
