// Measures the in-memory catalogue without HTTP: the time to build it, and queries that are not cached.
//   npm run bench:search -- [--offers 300000]

import { parseArgs } from 'node:util';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { buildSnapshotData } from '../service/src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../service/src/catalogue/catalogue.ts';
import type { CatalogueQuery } from '../service/src/catalogue/list-view.ts';
import { LARGE, makeRetailers } from './large-catalogue.ts';
import { percentile } from './percentile.ts';
import { milliseconds, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: { offers: { type: 'string', default: String(LARGE.offers) } },
});
const QUERIES = 500;
const LIMIT = 100;
const BATCH = 200;

const factor = Number(options.offers) / LARGE.offers;
const size = {
  retailers: Math.round(LARGE.retailers * factor),
  offers: Math.round(LARGE.offers * factor),
  coupons: Math.round(LARGE.coupons * factor),
  promotions: Math.round(LARGE.promotions * factor),
};
const retailers = [...makeRetailers(size, Date.now())].sort((a, b) => (a.id < b.id ? -1 : 1));
const names = retailers.map(({ name }) => name);

const startedAtMs = performance.now();
const data = await buildSnapshotData(async (onBatch) => {
  for (let begin = 0; begin < retailers.length; begin += BATCH) {
    const batch = retailers.slice(begin, begin + BATCH);
    await onBatch(batch.map((retailer) => ({ id: retailer.id, document: printRetailer(retailer) })));
  }
  return 1;
});
const builtInMs = performance.now() - startedAtMs;
let nowMs = Date.now();
const catalogue = new Catalogue(() => nowMs);
catalogue.take(data);

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;
const country = (retailer: Retailer) => pick(pick(retailer.cashbackOffers).countries);
const part = (name: string) => {
  const length = 4 + Math.floor(Math.random() * 6);
  const begin = Math.floor(Math.random() * Math.max(1, name.length - length));
  return name.slice(begin, begin + length);
};

/** Every query has a different cursor, so that none repeats. */
const KINDS: Record<string, () => Partial<CatalogueQuery>> = {
  'no filter': () => ({}),
  'a country': () => ({ country: country(pick(retailers)) }),
  'a category and a country': () => ({
    category: pick(pick(retailers).cashbackOffers).category,
    country: country(pick(retailers)),
  }),
  'one letter': () => ({ name: pick([...'aeiorst']) }),
  'two letters': () => ({ name: pick(names).slice(1, 3) }),
  'part of a name': () => ({ name: part(pick(names)) }),
  'part of a name, a category and a country': () => ({
    name: part(pick(names)),
    category: pick(pick(retailers).cashbackOffers).category,
    country: country(pick(retailers)),
  }),
  'a whole name and a country': () => {
    const retailer = pick(retailers);
    return { name: retailer.name, country: country(retailer) };
  },
  'an unknown name': () => ({ name: `${part(pick(names))}q${part(pick(names))}` }),
};

const rows = Object.entries(KINDS).map(([kind, newQuery]) => {
  const queries = Array.from({ length: QUERIES }, () => ({
    cursor: crypto.randomUUID() as Uuid,
    limit: LIMIT,
    ...newQuery(),
  }));
  const view = catalogue.list('cashbackOffers');
  // The first queries warm up the compiler.
  for (const query of queries.slice(0, QUERIES / 2)) view.page(query);
  const times = queries.map((query) => {
    const startedMs = performance.now();
    view.page(query);
    return performance.now() - startedMs;
  });
  return [kind, ...[0, 0.5, 0.99].map((share) => microseconds(percentile(times, share)))];
});

/** Moves the time, so that other deals are active and the view has to be rebuilt. */
const renewals = (['coupons', 'promotions', 'retailers'] as const).map((list) => {
  const times = Array.from({ length: 50 }, (_, day) => {
    nowMs = Date.now() + (day - 25) * 86_400_000;
    const startedMs = performance.now();
    catalogue.list(list);
    return performance.now() - startedMs;
  });
  return [
    `${list}, after a deal has started or ended`,
    ...[0, 0.5, 0.99].map((share) => microseconds(percentile(times, share))),
  ];
});

process.stdout.write(
  `${whole(size.offers)} offers, built in ${milliseconds(builtInMs)}; pages of ${LIMIT}:\n\n` +
    `${table(['query', 'fastest', 'median', 'p99'], [...rows, ...renewals])}\n`,
);

function microseconds(valueMs: number): string {
  return `${whole(valueMs * 1000)} µs`;
}
