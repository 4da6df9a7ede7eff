// How a stored retailer is served: its document unchanged, and its deals as items of their lists.

import { expect, test } from 'bun:test';
import { DEAL_LISTS, type DealList, forEachDealList } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import fc from 'fast-check';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { sortedByUuid } from '../../src/catalogue/build/deal-list-builder.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { UuidTable } from '../../src/catalogue/tables/uuid-table.ts';
import { coupon, id, offer, promotion, retailer } from '../support/fixtures.ts';
import { readerOf, START_MS } from './arbitrary-catalogue.ts';
import { readPage } from './read-page.ts';

const RETAILER = retailer(1, {
  cashbackOffers: [offer(11)],
  coupons: [coupon(21)],
  promotions: [promotion(31)],
});

/** The items of each list in a catalogue with one stored retailer. */
async function servedLists(stored: object) {
  const data = await buildSnapshotData(async (onBatch) => {
    await onBatch([{ id: RETAILER.id, document: printJson(stored), domains: [] }]);
    return 1;
  });
  const catalogue = new Catalogue(() => START_MS);
  catalogue.replace(data);
  const list = (name: 'retailers' | DealList) =>
    readPage(catalogue.current.list(name), { cursor: undefined, limit: 10 }).items;
  return { retailers: list('retailers'), ...forEachDealList(list) };
}

test('every field of a stored document is served in embedded and list form, including unknown fields', async () => {
  const nested = { badges: [{ text: '},{"' }, {}], shop: { open: true } };
  const scored = forEachDealList((list) =>
    RETAILER[list].flatMap((deal) => [
      { ...deal, score: null },
      { ...deal, ...nested },
    ]),
  );
  const stored = { ...RETAILER, note: 'fine', ...scored, ...nested };
  const { retailers, ...lists } = await servedLists(stored);
  expect(retailers.map((item) => JSON.parse(item))).toEqual([stored]);
  const { logo, url, name } = RETAILER;
  for (const list of DEAL_LISTS) {
    const expected = scored[list].map((deal) => ({ ...deal, retailerId: id(1), logo, url, name }));
    expect(lists[list].map((item) => JSON.parse(item))).toEqual(expected);
  }
});

test('a document with nested objects, or with fields between and after its lists, is served with all its fields', async () => {
  const nested = { badges: [{ text: '},{"' }, {}], shop: { open: true } };
  const deals = forEachDealList((list) =>
    [1, 2].map((number) => ({ ...RETAILER[list][0], ...nested, number })),
  );
  const { cashbackOffers, coupons, promotions } = deals;
  const own = { ...RETAILER, cashbackOffers: undefined, coupons: undefined, promotions: undefined };
  for (const stored of [
    { ...own, ...nested, cashbackOffers, coupons, promotions },
    { ...own, promotions, coupons, note: '{"', cashbackOffers },
    { ...RETAILER, cashbackOffers, nested },
    { ...RETAILER, coupons, cashbackOffers: [], ...nested },
    { ...RETAILER, promotions: [], nested: [nested] },
  ]) {
    const [shown] = (await servedLists(stored)).retailers;
    expect(JSON.parse(shown ?? '')).toEqual(JSON.parse(JSON.stringify(stored)));
  }
});

test('all deals of a retailer with tens of thousands of deals are served', async () => {
  const cashbackOffers = Array.from({ length: 40_000 }, (_, number) => offer(number));
  const { retailers } = await servedLists({ ...RETAILER, cashbackOffers });
  expect(JSON.parse(retailers[0] ?? '')).toEqual({ ...RETAILER, cashbackOffers });
});

test('a snapshot shares the memory of unchanged documents with the previous snapshot', async () => {
  const shops = (changed?: number) =>
    Array.from({ length: 2_000 }, (_, number) =>
      retailer(number, number === changed ? { name: 'Changed 😀', cashbackOffers: [offer(1_000)] } : {}),
    );
  const first = await buildSnapshotData(readerOf(shops()));
  const next = await buildSnapshotData(readerOf(shops(1_000), 2), first);
  expect(next).toEqual(await buildSnapshotData(readerOf(shops(1_000), 2)));
  const chunksOf = (data: typeof first) => data.retailers.documents.chunks;
  const fresh = chunksOf(next).filter((chunk) => !chunksOf(first).includes(chunk));
  expect(chunksOf(first).length).toBeGreaterThan(5);
  expect([chunksOf(next).length, fresh.length]).toEqual([chunksOf(first).length, 1]);
  const withdrawn = await buildSnapshotData(readerOf(shops().slice(1), 3), next);
  expect(withdrawn).toEqual(await buildSnapshotData(readerOf(shops().slice(1), 3)));
});

test('items are sorted by whole UUIDs, including those with the same first characters', () => {
  const word = fc.oneof(fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1), fc.nat(2 ** 32 - 1));
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word, word, word)), (ids) => {
      const table = new UuidTable(new Uint32Array(ids.flat()));
      const sorted = [...sortedByUuid(new Uint32Array(ids.flat()))];
      const expected = [...ids.keys()].sort((a, b) => table.compare(a, b) || a - b);
      expect(sorted.map((item) => table.at(item))).toEqual(expected.map((item) => table.at(item)));
      expect(new Set(sorted).size).toBe(ids.length);
    }),
  );
});
