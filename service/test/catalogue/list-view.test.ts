import { expect, test } from 'bun:test';
import type { Retailer, RetailerDomains } from '@offerbook/wire/catalogue.ts';
import { activePeriodMs } from '@offerbook/wire/deals.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import type { CatalogueListName, CatalogueQuery } from '../../src/catalogue/list-view.ts';
import type { OfferQuery } from '../../src/catalogue/search/offer-search.ts';
import { offer, retailer } from '../support/fixtures.ts';
import {
  catalogue,
  loadCatalogue,
  moreDomains,
  query,
  SITES,
  START_MS,
  uuid,
} from './arbitrary-catalogue.ts';
import { naivePage } from './naive-catalogue.ts';
import { readPage } from './read-page.ts';

const LISTS: readonly CatalogueListName[] = ['retailers', 'cashbackOffers', 'coupons', 'promotions'];
const list = fc.constantFrom(...LISTS);
const FIRST: CatalogueQuery = { cursor: undefined, limit: 1000 };
/** Times from before the first start to after the last end: each time at which deals change, and 1 ms before and after it. */
const momentMs = fc
  .tuple(fc.integer({ min: -1, max: 13 }), fc.constantFrom(-1, 0, 1))
  .map(([step, offset]) => START_MS + step * 500 + offset);

test('a page of any list contains the active items from the cursor onwards that match the filters', async () => {
  const questions = fc.array(fc.tuple(list, momentMs, query), { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(catalogue, moreDomains, questions, async (retailers, domains, questions) => {
      let nowMs = START_MS;
      const catalogue = await loadCatalogue(retailers, () => nowMs, domains);
      for (const [name, momentMs, query] of questions) {
        nowMs = momentMs;
        // With fewer filters, more items match.
        for (const asked of [query, { ...query, category: undefined, country: undefined }]) {
          const expected = naivePage(retailers, name, nowMs, asked, domains);
          expect(readPage(catalogue.current.list(name), asked)).toEqual(expected);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('the list of domains contains every retailer with its domains and its best rate', async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, moreDomains, async (retailers, more) => {
      const loaded = await loadCatalogue(retailers, () => START_MS, more);
      const { bytes, cursor } = loaded.current.domains.page();
      const expected = retailers
        .map(({ id, name, hostname, cashbackOffers }) => {
          const percentages = cashbackOffers.filter((offer) => offer.maximumFixedCommissionFee === null);
          const fixed = cashbackOffers.map((offer) => offer.maximumFixedCommissionFee ?? 0);
          const best = Math.max(...percentages.map((offer) => offer.cashbackPercentage));
          return {
            id,
            name,
            domains: [...new Set([SITES[hostname] ?? [], more.get(id) ?? []].flat())],
            isPercentage: percentages.length > 0,
            amount: percentages.length > 0 ? best : cashbackOffers.length > 0 ? Math.max(...fixed) : null,
          };
        })
        .filter(({ domains }) => domains.length > 0)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const { data } = JSON.parse(new TextDecoder().decode(bytes)) as { data: RetailerDomains[] };
      expect(cursor).toBeUndefined();
      expect(
        data.map(({ cashbackPercentage, maximumFixedCommissionFee: fixed, ...item }) => ({
          ...item,
          isPercentage: fixed === null && cashbackPercentage !== null,
          amount: fixed ?? cashbackPercentage,
        })),
      ).toEqual(JSON.parse(JSON.stringify(expected)) as typeof expected);
    }),
    { numRuns: 40 },
  );
});

test('an item looked up by its id equals the item in the list, and is found only if the list contains it', async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, momentMs, async (retailers, nowMs) => {
      const catalogue = await loadCatalogue(retailers, () => nowMs);
      const ids = retailers.flatMap(({ id, cashbackOffers, coupons, promotions }) =>
        [{ id }, ...cashbackOffers, ...coupons, ...promotions].map((item) => item.id),
      );
      for (const name of LISTS) {
        const listed = readPage(catalogue.current.list(name), FIRST).items;
        const found = [...ids, uuid('other')].flatMap((id) => {
          const item = catalogue.current.list(name).item(id);
          return item === undefined ? [] : [new TextDecoder().decode(item.bytes)];
        });
        expect(found.toSorted()).toEqual(listed.toSorted());
      }
    }),
    { numRuns: 40 },
  );
});

test("an item's changesAtMs is the time when it next changes", async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, list, momentMs, async (retailers, name, nowMs) => {
      let timeMs = nowMs;
      const catalogue = await loadCatalogue(retailers, () => timeMs);
      for (const item of naivePage(retailers, name, nowMs, FIRST).items) {
        const { id } = JSON.parse(item) as { id: Uuid };
        timeMs = nowMs;
        const changesAtMs = catalogue.current.list(name).item(id)?.changesAtMs ?? 0;
        expect(changesAtMs).toBeGreaterThan(nowMs);
        const laterMs = changesMs(retailers, name).filter((ms) => ms > nowMs && ms < changesAtMs);
        for (timeMs of laterMs)
          expect(new TextDecoder().decode(catalogue.current.list(name).item(id)?.bytes)).toBe(item);
      }
    }),
    { numRuns: 40 },
  );
});

test("a page's changesAtMs is the time when one of its items next starts or ends", async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, list, momentMs, query, async (retailers, name, nowMs, query) => {
      const { changesAtMs } = (await loadCatalogue(retailers, () => nowMs)).current.list(name).page(query);
      const page = naivePage(retailers, name, nowMs, query);
      const periods = retailers
        .flatMap(({ coupons, promotions }) => [...coupons, ...promotions])
        .map(activePeriodMs);
      const momentsMs = periods.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]);
      for (const laterMs of momentsMs.filter((ms) => ms > nowMs && ms < changesAtMs))
        expect(naivePage(retailers, name, laterMs, query)).toEqual(page);
      expect([Number.POSITIVE_INFINITY, ...momentsMs.filter((ms) => ms > nowMs)]).toContain(changesAtMs);
      // A deal on another page does not count.
      if (changesAtMs < Number.POSITIVE_INFINITY)
        expect(naivePage(retailers, name, changesAtMs, query)).not.toEqual(page);
    }),
    { numRuns: 40 },
  );
});

test('counts() returns the current number of items in each list', async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, momentMs, async (retailers, nowMs) => {
      const counts = (await loadCatalogue(retailers, () => nowMs)).current.counts();
      const expected = LISTS.map((name) => [name, naivePage(retailers, name, nowMs, FIRST).items.length]);
      expect(counts).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 40 },
  );
});

test('list() returns the same view until a deal in the list starts or ends', async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, list, momentMs, momentMs, async (retailers, name, beforeMs, afterMs) => {
      let nowMs = beforeMs;
      const catalogue = await loadCatalogue(retailers, () => nowMs);
      const before = catalogue.current.list(name);
      nowMs = afterMs;
      const changed = changesMs(retailers, name).some(
        (changeMs) => Math.min(beforeMs, afterMs) < changeMs && changeMs <= Math.max(beforeMs, afterMs),
      );
      expect(catalogue.current.list(name) !== before).toBe(changed);
    }),
    { numRuns: 40 },
  );
});

test('filters return the same offers as a naive search when names are similar and a few retailers have most offers', async () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'é', ' '), minLength: 1, maxLength: 12 });
  const offerCount = fc.oneof(
    { arbitrary: fc.nat(3), weight: 40 },
    { arbitrary: fc.integer({ min: 100, max: 1_000 }), weight: 1 },
  );
  const drafts = fc.array(fc.tuple(name, offerCount), { minLength: 40, maxLength: 120 });
  const search = fc.record({
    name: fc.oneof(
      fc.constantFrom('a', 'b'),
      name,
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 6 }),
    ),
    category: fc.constantFrom('Garden', 'Sports'),
    country: fc.constantFrom('DE', 'AT', 'LI'),
  });
  const position = fc.record({
    cursor: fc.option(fc.uuid() as fc.Arbitrary<Uuid>, { nil: undefined }),
    limit: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(1_000)),
  });
  const positions = fc.array(position, { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(drafts, search, positions, async (drafts, search, positions) => {
      const retailers = drafts.map(([name, offers], number) => skewedRetailer(number, name, offers));
      const view = (await loadCatalogue(retailers)).current.list('cashbackOffers');
      for (const filters of combinations(search)) {
        const all = naivePage(retailers, 'cashbackOffers', START_MS, {
          ...filters,
          ...FIRST,
          limit: Infinity,
        });
        const offers = all.items.map((text) => ({ text, id: (JSON.parse(text) as { id: Uuid }).id }));
        for (const { cursor, limit } of positions) {
          const rest = offers.filter(({ id }) => cursor === undefined || id >= cursor);
          expect(readPage(view, { ...filters, cursor, limit })).toEqual({
            items: rest.slice(0, limit).map(({ text }) => text),
            cursor: rest[limit]?.id,
          });
        }
      }
    }),
    { numRuns: 12 },
  );
});

test('a search finds all offers of a small retailer from every cursor, even if another retailer has many more', async () => {
  const retailers = [skewedRetailer(1, 'Few', 30), skewedRetailer(2, 'Many', 600)];
  const view = (await loadCatalogue(retailers)).current.list('cashbackOffers');
  const query = { name: 'few', country: 'DE', limit: 1000 };
  const few = naivePage(retailers, 'cashbackOffers', START_MS, { ...query, cursor: undefined }).items;
  const idOf = (text: string) => (JSON.parse(text) as { id: Uuid }).id;
  for (const { id: cursor } of retailers.flatMap(({ cashbackOffers }) => cashbackOffers)) {
    expect(readPage(view, { ...query, cursor })).toEqual({
      items: few.filter((text) => idOf(text) >= cursor),
      cursor: undefined,
    });
  }
});

/** Every subset of the filters. */
function combinations(filters: OfferQuery): OfferQuery[] {
  const some: OfferQuery[] = [{}];
  for (const [name, value] of Object.entries(filters))
    some.push(...some.map((others) => ({ ...others, [name]: value })));
  return some;
}

function changesMs(retailers: readonly Retailer[], name: CatalogueListName): number[] {
  if (name === 'cashbackOffers') return [];
  return retailers
    .flatMap((retailer) =>
      name === 'retailers' ? [...retailer.coupons, ...retailer.promotions] : [...retailer[name]],
    )
    .flatMap((deal) => Object.values(activePeriodMs(deal)));
}

/** All offers are for one country, a tenth of them also for a second, and those of every 40th retailer also for a third. */
function skewedRetailer(number: number, name: string, offerCount: number): Retailer {
  const countries = (index: number) => [
    'DE',
    ...(index % 10 === 0 ? ['AT'] : []),
    ...(number % 40 === 0 ? ['LI'] : []),
  ];
  return retailer(number, {
    id: uuid('retailer', number),
    name,
    cashbackOffers: Array.from({ length: offerCount }, (_, index) =>
      offer(index, {
        id: uuid('offer', number, index),
        countries: countries(index),
        category: index % 7 === 0 ? 'Sports' : 'Garden',
      }),
    ),
  });
}
