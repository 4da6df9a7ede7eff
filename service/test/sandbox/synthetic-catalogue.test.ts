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

test("a seed always generates the same catalogue, which shares no ids and hardly any names with other seeds' catalogues", () => {
  const [one, other] = [catalogue(1), catalogue(2)];
  expect(catalogue(1)).toEqual(one);
  const ids = new Set(one.map(({ id }) => id));
  const names = new Set(one.map(({ name }) => name));
  expect(other.filter(({ id }) => ids.has(id))).toEqual([]);
  expect(other.filter(({ name }) => names.has(name)).length).toBeLessThan(200);
});

test('for any seed and time, an import accepts the catalogue unchanged, with all its retailers and kinds of deals', () => {
  fc.assert(
    fc.property(seeds, moments, (seed, nowMs) => {
      const retailers = catalogue(seed, nowMs);
      expect<unknown>(retailers.map((retailer) => RetailerSchema.parse(retailer))).toEqual(retailers);
      const offers = offersOf(retailers);
      const ids = [...retailers, ...offers, ...passingOf(retailers)].map(({ id }) => id);
      expect({
        names: distinct(retailers.map(({ name }) => name.toLowerCase())),
        hostnames: distinct(retailers.map(({ hostname }) => hostname)),
        ids: distinct(ids),
        offers: offers.length,
        coupons: retailers.flatMap(({ coupons }) => coupons).length,
        promotions: retailers.flatMap(({ promotions }) => promotions).length,
        categories: distinct(offers.map(({ category }) => category)),
        countries: distinct(offers.flatMap(({ countries }) => countries)),
        offersWithoutCountry: offers.filter(({ countries }) => countries.length === 0),
      }).toEqual({
        ...{ names: 400, hostnames: 400, ids: 2800, offers: 1500, coupons: 600, promotions: 300 },
        ...{ categories: 15, countries: 25, offersWithoutCountry: [] },
      });
      const fixed = offers.filter((offer) => offer.maximumFixedCommissionFee !== null).length;
      expect(fixed).toBeWithin(200, 450);
    }),
    RUNS,
  );
});

test('the catalogue contains no ended deals, mostly active deals, and some that start or end soon', () => {
  fc.assert(
    fc.property(seeds, moments, (seed, nowMs) => {
      const deals = passingOf(catalogue(seed, nowMs));
      const [now, inTwoDays, inAWeek] = [0, 2, 7].map((days) => printTimestamp(nowMs + days * DAY_MS));
      const active = deals.filter(({ startDate }) => startDate <= `${now}`);
      const waiting = deals.filter(({ startDate }) => startDate > `${now}`);
      expect(deals.filter(({ endDate }) => endDate <= `${now}`)).toEqual([]);
      expect(active.length).toBeGreaterThan(720);
      expect(waiting.filter(({ startDate }) => startDate < `${inAWeek}`).length).toBeGreaterThan(20);
      expect(active.filter(({ endDate }) => endDate < `${inTwoDays}`).length).toBeGreaterThan(20);
    }),
    RUNS,
  );
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

test("a retailer's logo is always the same, and consists only of shapes and letters without scripts, styles or URLs", () => {
  const logos = catalogue().map((retailer) => drawLogo(1, retailer));
  expect(catalogue().map((retailer) => drawLogo(1, retailer))).toEqual(logos);
  expect(distinct(logos)).toBe(400);
  const elements = logos.flatMap((logo) => [...logo.matchAll(/<([a-zA-Z]+)/g)].map(([, name]) => name));
  expect([...new Set(elements)].sort()).toEqual(['rect', 'svg', 'text']);
  expect(logos.filter((logo) => /\son\w+=|href|style=|url\(|&/.test(logo))).toEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.uuid(), (name, id) => {
      const [, letters = ''] = /<text[^>]*>(.*)<\/text>/su.exec(drawLogo(1, { id, name })) ?? [];
      expect(letters).toMatch(/^\p{L}*$/u);
    }),
    { numRuns: 100 },
  );
});
