// Small catalogues for property tests, with awkward strings and times close to each other, and functions that load them.

import { type Coupon, type Promotion, printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { CatalogueQuery } from '../../src/catalogue/list-view.ts';
import type { CatalogueStore } from '../../src/domain/catalogue.ts';

export const START_MS = Date.UTC(2026, 10, 14, 12);

const NAMES = [
  'Café Münster',
  'CAFE MUNSTER',
  'Straße',
  'STRASSE',
  'Maẞe',
  'ΟΔΟΣ',
  'οδοσα',
  '100 %_* off',
  '*',
  '%',
  '_',
  'שלום עולם',
  'مرحبا',
  '😀 Shop',
  'Shop 😀😁',
  '\ud83d',
  'lone \udc00 half',
  'ﬁne',
  'İstanbul',
  'ısı',
  'a',
  'A',
  'á',
  'e\u0301',
  '"quoted\\',
  '{}[],:',
  '\u0000',
  '한국',
  'line\nbreak',
];
const CATEGORIES = [
  'Garden',
  'garden',
  'Gärden',
  'GARDEN ',
  '',
  '\u0301',
  'Fußball',
  'FUSSBALL',
  '🌱',
  '"',
  '\ud800',
];
const COUNTRIES = ['DE', 'AT', 'CH', 'FR'];
/** Hostnames of retailers, with the domain of each; null if there is none. */
export const SITES: Readonly<Record<string, string | null>> = {
  'shop.example': 'shop.example',
  'www.shop.example': 'shop.example',
  'WWW.Shop.example.': 'shop.example',
  'de.shop.example': 'de.shop.example',
  'a.de.shop.example': 'a.de.shop.example',
  'notshop.example': 'notshop.example',
  'münchen.example': 'xn--mnchen-3ya.example',
  'shop.co.uk': 'shop.co.uk',
  'co.uk': null,
  'myshopify.com': null,
  'shop.myshopify.com': 'shop.myshopify.com',
  localhost: null,
  'not a hostname': null,
};
const DOMAINS = Object.values(SITES).filter((domain) => domain !== null);
const HOSTS = [
  ...DOMAINS,
  'example',
  'co.uk',
  'other.example',
  'myshopify.com',
  'x.localhost',
  'hop.example',
  'uk',
];
const HOSTNAMES = HOSTS.flatMap((host) => [host, `www.${host}`, `x.${host}`, `x${host}`, `${host}.example`]);

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('€', '\udfff', '},{', '\\"'),
);
const momentMs = fc.integer({ min: 0, max: 12 }).map((step) => START_MS + step * 500);
const period = fc
  .tuple(momentMs, momentMs)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ startDate: printTimestamp(Math.min(a, b)), endDate: printTimestamp(Math.max(a, b)) }));

const offer = fc.record({
  featured: fc.boolean(),
  countries: fc.array(fc.constantFrom(...COUNTRIES), { maxLength: 3 }),
  cashbackPercentage: fc.constantFrom(0, 0.05, 1),
  maximumFixedCommissionFee: fc.constantFrom(null, 7.5, 1e-7),
  description: text,
  category: fc.constantFrom(...CATEGORIES),
  termsAndExclusions: text,
});
const coupon = fc.tuple(fc.record({ code: text, description: text }), period);
const promotion = fc.tuple(fc.record({ description: text }), period);

const retailer = fc.record({
  name,
  hostname: fc.constantFrom(...Object.keys(SITES)),
  offers: fc.array(offer, { maxLength: 4 }),
  coupons: fc.array(coupon, { maxLength: 4 }),
  promotions: fc.array(promotion, { maxLength: 3 }),
});

/** Retailers with unique ids, in random order. */
export const catalogue: fc.Arbitrary<Retailer[]> = fc.array(retailer, { maxLength: 8 }).map((drafts) =>
  drafts.map(({ name, hostname, offers, coupons, promotions }, number) => ({
    id: uuid('retailer', number),
    name,
    hostname,
    url: 'https://shop.example/',
    logo: `https://shop.example/${number}.svg`,
    cashbackOffers: offers.map((fields, index) => ({ id: uuid('offer', number, index), ...fields })),
    coupons: coupons.map(
      ([{ code, description }, dates], index): Coupon => ({
        code,
        id: uuid('coupon', number, index),
        description,
        ...dates,
      }),
    ),
    promotions: promotions.map(
      ([{ description }, dates], index): Promotion => ({
        id: uuid('promotion', number, index),
        description,
        ...dates,
        deepLink: 'https://shop.example/deal',
      }),
    ),
  })),
);

export const query: fc.Arbitrary<CatalogueQuery> = fc.record({
  cursor: fc.option(
    fc.oneof(
      fc.uuid().map((text) => text as Uuid),
      fc.nat(7).map((number) => uuid('retailer', number)),
      fc
        .tuple(fc.constantFrom('offer', 'coupon', 'promotion'), fc.nat(7), fc.nat(3))
        .map((parts) => uuid(...parts)),
    ),
    { nil: undefined },
  ),
  limit: fc.integer({ min: 1, max: 6 }),
  name: fc.option(
    // A query string cannot contain half of a surrogate pair.
    fc
      .oneof(fc.constantFrom(...NAMES, '', '\u0301', 'ss', 'ΟΔΟσ', 'sh', 'c', 'afe', 'FI'), name)
      .map((text) => text.toWellFormed()),
    {
      nil: undefined,
    },
  ),
  category: fc.option(fc.constantFrom(...CATEGORIES.filter((category) => category !== ''), 'other'), {
    nil: undefined,
  }),
  country: fc.option(fc.constantFrom(...COUNTRIES, 'ZZ'), { nil: undefined }),
  hostname: fc.option(fc.constantFrom(...HOSTNAMES), { nil: undefined, freq: 1 }),
  retailerId: fc.option(
    fc.nat(8).map((number) => uuid('retailer', number)),
    { nil: undefined, freq: 1 },
  ),
});

/** Domains from a links file, by retailer. */
export const moreDomains: fc.Arbitrary<ReadonlyMap<Uuid, readonly string[]>> = fc
  .dictionary(
    fc.nat(7).map(String),
    fc.uniqueArray(fc.constantFrom(...DOMAINS, 'other.example'), { maxLength: 3 }),
  )
  .map(
    (drafts) =>
      new Map(Object.entries(drafts).map(([number, domains]) => [uuid('retailer', Number(number)), domains])),
  );

/** Returns the same id for the same parts. */
export function uuid(...parts: readonly (string | number)[]): Uuid {
  const hex = new Bun.CryptoHasher('md5').update(parts.join('/')).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') as Uuid;
}

/** `domains` are those of the links file. */
export function readerOf(
  retailers: readonly Retailer[],
  revision = 1,
  domains: ReadonlyMap<Uuid, readonly string[]> = new Map(),
): CatalogueStore['read'] {
  return async (onBatch) => {
    const documents = retailers
      .map((retailer) => ({
        id: retailer.id,
        document: printRetailer(retailer),
        domains: domains.get(retailer.id) ?? [],
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let begin = 0; begin < documents.length; begin += 3)
      await onBatch(documents.slice(begin, begin + 3));
    return revision;
  };
}

export async function loadCatalogue(
  retailers: readonly Retailer[],
  clock: () => number = () => START_MS,
  domains?: ReadonlyMap<Uuid, readonly string[]>,
): Promise<Catalogue> {
  const catalogue = new Catalogue(clock);
  catalogue.replace(await buildSnapshotData(readerOf(retailers, 1, domains)));
  return catalogue;
}
