// Measures the in-memory catalogue without HTTP: building it, and queries that are not cached.
//   npm run bench -- search [--offers 300000,3000000]

import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { buildSnapshotData } from '../service/src/catalogue/build/build-snapshot.ts';
import { Catalogue } from '../service/src/catalogue/catalogue.ts';
import type { CatalogueQuery } from '../service/src/catalogue/list-view.ts';
import type { StoredRetailer } from '../service/src/domain/catalogue.ts';
import { LARGE, makeRetailers, partOf } from './large-catalogue.ts';
import { milliseconds, percentile, table, whole } from './table.ts';

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
  const catalogue = new Catalogue(Date.now);
  catalogue.replace(data);
  const rows = Object.entries(kindsOf(sample)).map(([kind, newQuery]) => [
    ...[kind, ...timesOf(catalogue, newQuery)],
  ]);
  process.stdout.write(
    `${whole(offers)} offers, built in ${milliseconds((user + system) / 1000)} of CPU time\n\n` +
      `${table([`page of ${LIMIT}`, 'median', 'p99'], rows)}\n\n`,
  );
}

/** Returns all retailers as they are stored, in id order, and some of them as objects. */
function makeCatalogue(offers: number) {
  const factor = offers / LARGE.offers;
  const size = { ...LARGE, retailers: Math.round(LARGE.retailers * factor), offers };
  const sample: Retailer[] = [];
  const documents: StoredRetailer[] = [];
  for (const retailer of makeRetailers(size, Date.now())) {
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

/** Every query has a random cursor, so that none repeats, except where the first page is the slowest one. */
function kindsOf(sample: readonly Retailer[]): Record<string, () => Partial<CatalogueQuery>> {
  const random = new Random('search');
  const retailer = () => random.pick(sample);
  const country = ({ cashbackOffers }: Retailer) => random.pick(random.pick(cashbackOffers).countries);
  const category = ({ cashbackOffers }: Retailer) => random.pick(cashbackOffers).category;
  const part = ({ name }: Retailer) => partOf(name, random);
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
    'one letter': () => ({ name: random.pick([...'aeiorst']) }),
    'one letter and a rare country, first page': () => ({
      name: random.pick([...'aeiorst']),
      country: RARE_COUNTRY,
      ...firstPage,
    }),
    'two letters': () => ({ name: retailer().name.slice(1, 3) }),
    'a name that nothing matches': () => ({ name: `${part(retailer())}q${part(retailer())}` }),
    'a country with one offer, at the end of the list': () => ({ country: RARE_COUNTRY, ...firstPage }),
  };
}

function timesOf(catalogue: Catalogue, newQuery: () => Partial<CatalogueQuery>): string[] {
  const view = catalogue.current.list('cashbackOffers');
  const timesMs: number[] = [];
  // The first half of the queries warms up the compiler.
  for (let round = -QUERIES; round < QUERIES; round++) {
    const query = { cursor: crypto.randomUUID() as Uuid, limit: LIMIT, ...newQuery() };
    const startedMs = performance.now();
    view.page(query);
    if (round >= 0) timesMs.push(performance.now() - startedMs);
  }
  return [0.5, 0.99].map((share) => `${whole(percentile(timesMs, share) * 1000)} µs`);
}
