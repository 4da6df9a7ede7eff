import { beforeEach, describe, expect, test } from 'bun:test';
import type { CatalogueQuery, ListView } from '../../src/catalogue/list-view.ts';
import { type CataloguePage, type PageCache, pageCache } from '../../src/http/content/page-cache.ts';
import { loadCatalogue } from '../catalogue/arbitrary-catalogue.ts';
import { id, offer, retailer } from '../support/fixtures.ts';

test('a cached page does not change when its bytes are overwritten with the next page', () => {
  const cache = pageCache();
  const bytes = Uint8Array.of(1);
  const page = { bytes, cursor: undefined, changesAtMs: Number.POSITIVE_INFINITY };
  const view: ListView = { count: () => 0, page: () => page, item: () => undefined };
  cache.find(view, '');
  for (let times = 0; times < 2; times++) cache.add('a', page);
  bytes[0] = 2;
  expect(cache.find(view, 'a')?.encoded.bytes).toEqual(Uint8Array.of(1));
});

test('a page with a query string longer than 500 characters is not cached', () => {
  const cache = pageCache();
  const page = { bytes: new Uint8Array(), cursor: undefined, changesAtMs: Number.POSITIVE_INFINITY };
  const view: ListView = { count: () => 0, page: () => page, item: () => undefined };
  cache.find(view, '');
  for (const [length, isCached] of [
    [500, true],
    [501, false],
  ] as const) {
    const search = 'x'.repeat(length);
    for (let times = 0; times < 2; times++) cache.add(search, page);
    expect(cache.find(view, search) !== undefined).toBe(isCached);
  }
});

describe('the page cache', () => {
  const LENGTH = 1_000_000;
  const retailers = Array.from({ length: 20 }, (_, number) =>
    retailer(number, { cashbackOffers: [offer(100 + number, { termsAndExclusions: 'x'.repeat(LENGTH) })] }),
  );
  let written: number;
  let ask: (number: number) => CataloguePage;

  beforeEach(async () => {
    const loaded = await loadCatalogue(retailers);
    const offers = loaded.current.list('cashbackOffers');
    const cache = pageCache();
    const view: ListView = {
      ...offers,
      page(query) {
        written++;
        return offers.page(query);
      },
    };
    written = 0;
    ask = (number) => request(cache, view, { cursor: id(100 + number), limit: 1 });
  });

  test('the cache does not evict pages in favour of pages that are requested only once', () => {
    ask(0);
    ask(0);
    for (let number = 1; number < 20; number++) ask(number);
    ask(0);
    expect(written).toBe(2 + 19);
  });

  test('the cache evicts the least recently used page above 16 MB', () => {
    for (let number = 0; number < 20; number++) {
      ask(number);
      ask(number);
      ask(0);
    }
    expect(written).toBe(2 * 20);
    for (const number of [0, 19, 5]) ask(number);
    expect(written).toBe(2 * 20);
    ask(4);
    expect(written).toBe(2 * 20 + 1);
  });
});

test('the cache has its whole size for each view', async () => {
  const cache = pageCache();
  const page = { bytes: new Uint8Array(1_000_000), cursor: undefined, changesAtMs: Number.POSITIVE_INFINITY };
  for (let times = 0; times < 4; times++) {
    const view: ListView = { count: () => 1, page: () => page, item: () => page };
    for (const search of ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']) {
      for (const isCached of [false, false, true]) {
        expect(cache.find(view, search) !== undefined).toBe(isCached);
        if (!isCached) cache.add(search, page);
      }
    }
    expect(cache.find(view, '1')).toBeDefined();
  }
});

test('the cache counts the overhead of small pages, so that single items cannot exhaust memory', async () => {
  const loaded = await loadCatalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
  const offers = loaded.current.list('cashbackOffers');
  const cache = pageCache();
  cache.find(offers, '');
  const keys = Array.from({ length: 8_000 }, (_, number) => String(number));
  for (const key of keys) {
    for (let times = 0; times < 2; times++) {
      const item = offers.item(id(11));
      if (item !== undefined) cache.add(key, item);
    }
  }
  const cached = keys.filter((key) => cache.find(offers, key) !== undefined);
  expect(cached).toEqual(keys.slice(-cached.length));
  expect(cached.length).toBeGreaterThan(3_000);
  expect(cached.length).toBeLessThan(4_096);
});

/** Requests a page as catalogue-route.ts does. */
function request(cache: PageCache, view: ListView, query: CatalogueQuery): CataloguePage {
  const search = JSON.stringify(query);
  return cache.find(view, search) ?? cache.add(search, view.page(query));
}
