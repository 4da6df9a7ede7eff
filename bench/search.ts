// Measures the in-memory catalogue without HTTP: building it, and queries that are not cached.
//   npm run bench -- search [--offers 300000,3000000]

import { parseArgs } from 'node:util';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { buildSnapshotData } from '../service/src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../service/src/catalogue/catalogue.ts';
import type { CatalogueQuery } from '../service/src/catalogue/list-view.ts';
import type { StoredRetailer } from '../service/src/domain/catalogue.ts';
import { LARGE, makeRetailers } from './large-catalogue.ts';
import { megabytes, milliseconds, percentile, table, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    offers: { type: 'string', default: `${LARGE.offers},${10 * LARGE.offers}` },
  },
});
const QUERIES = 500;
const LIMIT = 100;
const BATCH = 200;
/** Only the last offer in the list is for this country. */
const RARE_COUNTRY = 'AQ';
const LAST_ID = 'ffffffff-ffff-4fff-bfff-ffffffffffff' as Uuid;

let nowMs = Date.now();
for (const offers of options.offers.split(',')) await measure(Number(offers));

async function measure(offers: number): Promise<void> {
  const { documents, sample } = makeCatalogue(offers);
  const before = process.cpuUsage();
  const data = await buildSnapshotData(async (onBatch) => {
    for (let begin = 0; begin < documents.length; begin += BATCH)
      await onBatch(documents.slice(begin, begin + BATCH));
    return 1;
  });
  const { user, system } = process.cpuUsage(before);
  const catalogue = new Catalogue(() => nowMs);
  catalogue.replace(data);
  const rows = [
    ...Object.entries(kindsOf(sample)).map(([kind, newQuery]) => [kind, ...timesOf(catalogue, newQuery)]),
    ...(['coupons', 'promotions', 'retailers'] as const).map((list) => [
      ...[`${list}, after a deal has started or ended`, ...percentiles(renewalsMs(catalogue, list))],
    ]),
  ];
  process.stdout.write(
    [
      `${whole(offers)} offers: ${megabytes(bytesIn(data))}, built in ${milliseconds((user + system) / 1000)} of CPU time`,
      `Pages of ${LIMIT}:\n\n${table(['query', 'median', 'p99'], rows)}\n\n`,
    ].join('\n'),
  );
}

/** Returns all retailers as they are stored, in id order, and some of them as objects. */
function makeCatalogue(offers: number) {
  const factor = offers / LARGE.offers;
  const size = { ...LARGE, retailers: Math.round(LARGE.retailers * factor), offers };
  const sample: Retailer[] = [];
  const documents: StoredRetailer[] = [];
  for (const retailer of makeRetailers(size, nowMs)) {
    const { id } = retailer;
    if (documents.length % Math.ceil(10 * factor) === 0) sample.push(retailer);
    if (documents.length === 0)
      retailer.cashbackOffers = retailer.cashbackOffers.map((offer, index) =>
        index === 0 ? { ...offer, id: LAST_ID, countries: [RARE_COUNTRY] } : offer,
      );
    documents.push({ id, document: printRetailer(retailer), domains: [] });
  }
  return { documents: documents.sort((a, b) => (a.id < b.id ? -1 : 1)), sample };
}

function bytesIn(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum, field) => sum + bytesIn(field), 0);
}

/** Every query has a random cursor, so that none repeats, except where the first page is the slowest one. */
function kindsOf(sample: readonly Retailer[]): Record<string, () => Partial<CatalogueQuery>> {
  const retailer = () => pick(sample);
  const country = ({ cashbackOffers }: Retailer) => pick(pick(cashbackOffers).countries);
  const category = ({ cashbackOffers }: Retailer) => pick(cashbackOffers).category;
  const part = ({ name }: Retailer) => {
    const length = 4 + Math.floor(Math.random() * 6);
    const begin = Math.floor(Math.random() * Math.max(1, name.length - length));
    return name.slice(begin, begin + length);
  };
  const firstPage = { cursor: undefined };
  return {
    'no filter': () => ({}),
    'a country': () => ({ country: country(retailer()) }),
    'a category and a country': () => ({ category: category(retailer()), country: country(retailer()) }),
    'part of a name': () => ({ name: part(retailer()) }),
    'part of a name and a country': () => {
      const one = retailer();
      return { name: part(one), country: country(one) };
    },
    'the same, first page': () => {
      const one = retailer();
      return { name: part(one), country: country(one), ...firstPage };
    },
    'a whole name and a country, first page': () => {
      const one = retailer();
      return { name: one.name, country: country(one), ...firstPage };
    },
    'part of a name, a category and a country': () => {
      const one = retailer();
      return { name: part(one), category: category(one), country: country(one) };
    },
    'three filters that exclude each other, first page': () => ({
      name: part(retailer()),
      category: category(retailer()),
      country: country(retailer()),
      ...firstPage,
    }),
    'one letter': () => ({ name: pick([...'aeiorst']) }),
    'one letter and a rare country, first page': () => ({
      name: pick([...'aeiorst']),
      country: RARE_COUNTRY,
      ...firstPage,
    }),
    'two letters': () => ({ name: retailer().name.slice(1, 3) }),
    'a name that nothing matches': () => ({ name: `${part(retailer())}q${part(retailer())}` }),
    'a country with one offer, at the end of the list': () => ({ country: RARE_COUNTRY, ...firstPage }),
  };
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

function timesOf(catalogue: Catalogue, newQuery: () => Partial<CatalogueQuery>): string[] {
  const view = catalogue.list('cashbackOffers');
  const timesMs: number[] = [];
  // The first half of the queries warms up the compiler.
  for (let round = -QUERIES; round < QUERIES; round++) {
    const query = { cursor: crypto.randomUUID() as Uuid, limit: LIMIT, ...newQuery() };
    const startedMs = performance.now();
    view.page(query);
    if (round >= 0) timesMs.push(performance.now() - startedMs);
  }
  return percentiles(timesMs);
}

/** Moves the time, so that other deals are active and the view has to be rebuilt. */
function renewalsMs(catalogue: Catalogue, list: 'coupons' | 'promotions' | 'retailers'): number[] {
  const startMs = nowMs;
  const timesMs = Array.from({ length: 50 }, (_, day) => {
    nowMs = startMs + (day - 25) * DAY_MS;
    const startedMs = performance.now();
    catalogue.list(list);
    return performance.now() - startedMs;
  });
  nowMs = startMs;
  return timesMs;
}

function percentiles(timesMs: readonly number[]): string[] {
  return [0.5, 0.99].map((share) => `${whole(percentile(timesMs, share) * 1000)} µs`);
}
