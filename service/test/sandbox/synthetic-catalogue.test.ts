import { describe, expect, test } from 'bun:test';
import { drawLogo } from '@offerbook/sandbox/logo.ts';
import { makeCatalogue } from '@offerbook/sandbox/synthetic-catalogue.ts';
import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { RetailerSchema } from '@offerbook/wire/catalogue.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import fc from 'fast-check';

const NOW_MS = Date.parse('2026-11-14T12:00:00Z');
const RUNS = { numRuns: 4 };

const moments = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2034-01-01') });
const seeds = fc.nat({ max: 2 ** 31 - 1 });

function catalogue(seed = 1, nowMs = NOW_MS): Retailer[] {
  return makeCatalogue({ seed, nowMs, logoUrl: (id) => `http://localhost:8080/logos/${id}.svg` });
}

const offersOf = (retailers: readonly Retailer[]) => retailers.flatMap((retailer) => retailer.cashbackOffers);
const passingOf = (retailers: readonly Retailer[]) =>
  retailers.flatMap((retailer) => [...retailer.coupons, ...retailer.promotions]);
const distinct = (values: readonly unknown[]) => new Set(values).size;

describe('seeds', () => {
  test('a seed always generates the same catalogue', () => {
    expect(catalogue(7)).toEqual(catalogue(7));
  });

  test("each seed generates its own catalogue, which shares no ids and hardly any names with other seeds' catalogues", () => {
    const [one, other] = [catalogue(1), catalogue(2)];
    const ids = new Set(one.map(({ id }) => id));
    const names = new Set(one.map(({ name }) => name));
    expect(other.filter(({ id }) => ids.has(id))).toEqual([]);
    expect(other.filter(({ name }) => names.has(name)).length).toBeLessThan(200);
  });
});

describe('the catalogue for any seed and time', () => {
  test('an import accepts every retailer unchanged', () => {
    fc.assert(
      fc.property(seeds, moments, (seed, nowMs) => {
        const retailers = catalogue(seed, nowMs);
        expect<unknown>(retailers.map((retailer) => RetailerSchema.parse(retailer))).toEqual(retailers);
      }),
      RUNS,
    );
  });

  test('the catalogue contains 400 retailers with 1,500 offers, 600 coupons and 300 promotions', () => {
    fc.assert(
      fc.property(seeds, moments, (seed, nowMs) => {
        const retailers = catalogue(seed, nowMs);
        expect({
          retailers: retailers.length,
          offers: offersOf(retailers).length,
          coupons: retailers.flatMap(({ coupons }) => coupons).length,
          promotions: retailers.flatMap(({ promotions }) => promotions).length,
        }).toEqual({ retailers: 400, offers: 1500, coupons: 600, promotions: 300 });
      }),
      RUNS,
    );
  });

  test('the catalogue contains only unique names, hostnames and ids', () => {
    fc.assert(
      fc.property(seeds, moments, (seed, nowMs) => {
        const retailers = catalogue(seed, nowMs);
        expect(distinct(retailers.map(({ name }) => name.toLowerCase()))).toBe(400);
        expect(distinct(retailers.map(({ hostname }) => hostname))).toBe(400);
        const ids = [...retailers, ...offersOf(retailers), ...passingOf(retailers)].map(({ id }) => id);
        expect(distinct(ids)).toBe(2800);
      }),
      RUNS,
    );
  });

  test('the catalogue contains 15 categories, 25 countries and both kinds of offers', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const offers = offersOf(catalogue(seed));
        expect(distinct(offers.map(({ category }) => category))).toBe(15);
        expect(distinct(offers.flatMap(({ countries }) => countries))).toBe(25);
        const fixed = offers.filter((offer) => offer.maximumFixedCommissionFee !== null).length;
        expect(fixed).toBeGreaterThan(200);
        expect(fixed).toBeLessThan(450);
        expect(offers.every(({ countries }) => countries.length > 0)).toBe(true);
      }),
      RUNS,
    );
  });

  test('the catalogue contains no ended deals, mostly active deals, and some that start or end soon', () => {
    fc.assert(
      fc.property(seeds, moments, (seed, nowMs) => {
        const deals = passingOf(catalogue(seed, nowMs));
        const [now, inTwoDays, inAWeek] = [0, 2, 7].map((days) => printTimestamp(nowMs + days * DAY_MS));
        expect(deals.filter(({ endDate }) => endDate <= `${now}`)).toEqual([]);
        expect(deals.filter(({ startDate }) => startDate <= `${now}`).length).toBeGreaterThan(720);
        const soon = deals.filter(({ startDate }) => startDate > `${now}` && startDate < `${inAWeek}`);
        expect(soon.length).toBeGreaterThan(20);
        const ending = deals.filter(
          ({ startDate, endDate }) => startDate <= `${now}` && endDate < `${inTwoDays}`,
        );
        expect(ending.length).toBeGreaterThan(20);
      }),
      RUNS,
    );
  });
});

describe('the catalogue as time passes', () => {
  test('retailers and offers do not change over time', () => {
    const lasting = (retailers: readonly Retailer[]) =>
      retailers.map((retailer) => ({ ...retailer, coupons: [], promotions: [] }));
    expect(lasting(catalogue(1, NOW_MS + 400 * DAY_MS))).toEqual(lasting(catalogue(1, NOW_MS)));
  });

  test('coupons and promotions stay unchanged until they end, and are then replaced', () => {
    const before = passingOf(catalogue(1, NOW_MS));
    const after = new Map(passingOf(catalogue(1, NOW_MS + 7 * DAY_MS)).map((deal) => [deal.id, deal]));
    const then = printTimestamp(NOW_MS + 7 * DAY_MS);
    const lasting = before.filter(({ endDate }) => endDate > then);
    expect(before.flatMap(({ id }) => after.get(id) ?? [])).toEqual(lasting);
    const kept = lasting.length;
    expect(kept).toBeGreaterThan(450);
    expect(kept).toBeLessThan(850);
  });
});

test('every URL except those of logos is under the reserved domain .example', () => {
  const retailers = catalogue();
  const addresses = retailers.flatMap(({ url, promotions }) => [
    url,
    ...promotions.map(({ deepLink }) => deepLink),
  ]);
  expect(addresses.filter((address) => !new URL(address).hostname.endsWith('.example'))).toEqual([]);
  expect(retailers.filter(({ url, hostname }) => new URL(url).hostname !== hostname)).toEqual([]);
});

test('descriptions of deals rarely repeat', () => {
  const retailers = catalogue();
  const texts = offersOf(retailers).map(
    ({ description, termsAndExclusions }) => description + termsAndExclusions,
  );
  expect(distinct(texts)).toBeGreaterThan(1400);
  expect(distinct(passingOf(retailers).map(({ description }) => description))).toBeGreaterThan(600);
});

describe('logos', () => {
  const logos = catalogue().map((retailer) => drawLogo(1, retailer));

  test("a retailer's logo is always the same, and differs from all others", () => {
    expect(catalogue().map((retailer) => drawLogo(1, retailer))).toEqual(logos);
    expect(distinct(logos)).toBe(400);
  });

  test('logos consist only of shapes and letters, without scripts, styles or URLs', () => {
    const elements = new Set(
      logos.flatMap((logo) => [...logo.matchAll(/<([a-zA-Z]+)/g)].map(([, name]) => name)),
    );
    expect([...elements].sort()).toEqual(['rect', 'svg', 'text']);
    const others = logos.filter((logo) => /\son\w+=|href|style=|url\(|&/.test(logo));
    expect(others).toEqual([]);
  });

  test('logos are well-formed for any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uuid(), (name, id) => {
        const logo = drawLogo(1, { id, name });
        const [, letters = ''] = /<text[^>]*>(.*)<\/text>/su.exec(logo) ?? [];
        expect(letters).toMatch(/^\p{L}*$/u);
      }),
      { numRuns: 100 },
    );
  });
});
