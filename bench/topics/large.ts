// Measures a large catalogue: loading time, memory, searches with a different query each time, and latency while the next
// snapshot is built and swapped in.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import type { Stores } from '../../service/src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../service/src/storage/open-stores.ts';
import { fillCatalogue } from '../fill.ts';
import { LARGE, makeRetailers } from '../large-catalogue.ts';
import { compare, type Load, runLoad, type Series } from '../load.ts';
import { bearer, issueTokens, startOfferbook } from '../offerbook.ts';
import { listedOffers, startBare } from '../peers.ts';
import { percentile } from '../percentile.ts';
import type { Server } from '../server.ts';
import { megabytes, milliseconds, ratio, table, whole } from '../table.ts';
import type { Finding, Report, Run } from '../topic.ts';

const OFFERS = '/v1/cashback-offers/';
/** Far more pages than the service caches, so that every request is a cache miss. */
const DIFFERENT_QUERIES = 20_000;
const SLICE_S = 1;
const SETTLE_MS = 1_000;
/** High, because the thread that builds the snapshot shares one core with the requests. */
const RELOAD_MAX_S = 120;

export async function large(run: Run): Promise<Report> {
  const databaseUrl = `sqlite:${join(run.folder, 'large.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  const sample: Retailer[] = [];
  const serialisedBytes = await fillCatalogue(stores, sampled(makeRetailers(LARGE, Date.now()), sample));
  const org = await stores.organisations.create('bench');
  const { public: token } = await issueTokens(stores, org?.id ?? 0);
  await using server = await startOfferbook(run.folder, databaseUrl);
  // The server releases the memory it needed for loading.
  await Bun.sleep(SETTLE_MS);
  const memory = await server.memoryBytes();
  const filters = await compareFilters(run, server, token, sample);
  const swap = await swapUnderLoad(run, server, token, stores, sample);
  const memoryAfter = await server.memoryBytes();
  await stores.close();
  const times = memory.now / serialisedBytes;
  return {
    findings: [
      ...filterFindings(filters),
      {
        work: `load ${whole(LARGE.retailers)} retailers, ${whole(LARGE.offers)} offers, ${whole(LARGE.coupons)} coupons, ${whole(LARGE.promotions)} promotions`,
        target: 'under 10 s',
        measured: `${(server.startedInMs / 1000).toFixed(1)} s from the start of the process`,
        met: server.startedInMs < 10_000,
      },
      {
        work: 'process memory with this catalogue',
        target: 'under 2.5 times the size of the serialised catalogue',
        measured: `${megabytes(memory.now)} for ${megabytes(serialisedBytes)}: ${ratio(times)}; ${megabytes(memoryAfter.peak)} peak with two catalogues in memory`,
        met: times < 2.5,
      },
      ...swap.findings,
    ],
    details: [filterTable(filters), swap.details],
  };
}

function* sampled(retailers: Iterable<Retailer>, sample: Retailer[]): Generator<Retailer> {
  let count = 0;
  for (const retailer of retailers) {
    if (count++ % 10 === 0) sample.push(retailer);
    yield retailer;
  }
}

async function compareFilters(run: Run, server: Server, token: string, sample: readonly Retailer[]) {
  const random = new Random('bench', 'queries');
  const write = (name: string, path: () => string): readonly ['paths', string] => {
    const file = join(run.folder, `${name}.txt`);
    writeFileSync(file, Array.from({ length: DIFFERENT_QUERIES }, path).join('\n'));
    return ['paths', file];
  };
  // Uses a country where the retailer has offers. Hundreds of retailers share a part of the name, so most pages are full,
  // whereas the whole name matches only a few offers.
  const search =
    (part: (name: string) => string, withCategory = false) =>
    () => {
      const { name, cashbackOffers } = random.pick(sample);
      const { countries, category } = random.pick(cashbackOffers);
      const filters = { name: part(name), country: random.pick(countries) };
      return `${OFFERS}?${new URLSearchParams(withCategory ? { ...filters, category } : filters)}`;
    };
  const partOf = (name: string) => {
    const begin = random.whole(0, name.length - 4);
    return name.slice(begin, begin + random.whole(4, 9));
  };
  await using bare = await startBare(run.folder, 'texts', await writeOffers(run));
  const randomCursor = () => `${OFFERS}?cursor=${crypto.randomUUID()}`;
  const load = (headers: Record<string, string>, file?: Load['file']): Load => ({
    url: `${server.url}${OFFERS}`,
    headers: bearer(token, headers),
    ...(file === undefined ? {} : { file }),
  });
  const gzip = { 'Accept-Encoding': 'gzip' };
  const cursors = write('cursors', randomCursor);
  const searches = write('searches', search(partOf));
  const wholeNames = write(
    'whole-names',
    search((name) => name),
  );
  const threeFilters = write('three-filters', search(partOf, true));
  return await compare(
    {
      'a repeated first page': load({}),
      'bare Bun.serve that copies 100 random offers': { url: `${bare.url}/`, headers: {} },
      'pages at random cursors': load({}, cursors),
      'pages by part of a name and country': load({}, searches),
      'pages by part of a name, country and category': load({}, threeFilters),
      'pages by whole name and country': load({}, wholeNames),
      'pages at random cursors, gzip': load(gzip, cursors),
      'pages by part of a name and country, gzip': load(gzip, searches),
    },
    run,
  );
}

/** Every offer in its list form, one per line. */
async function writeOffers(run: Run): Promise<string> {
  const path = join(run.folder, 'offers.txt');
  const file = Bun.file(path).writer();
  for (const retailer of makeRetailers(LARGE, Date.now())) {
    for (const offer of listedOffers(retailer)) file.write(`${JSON.stringify(offer)}\n`);
  }
  await file.end();
  return path;
}

function filterFindings(measured: Awaited<ReturnType<typeof compareFilters>>): Finding[] {
  const first = measured['a repeated first page'];
  const unfiltered = measured['pages at random cursors'];
  const byPart = measured['pages by part of a name and country'];
  const byWhole = measured['pages by whole name and country'];
  const work = 'search by name and country, a new query each time';
  const against = (work: string, filtered: Series, other: Series, name: string): Finding[] => [
    {
      work,
      target: `at least 0.5 times the throughput of ${name}`,
      measured: ratio(filtered.timesAsFastAs(other)),
      met: filtered.timesAsFastAs(other) >= 0.5,
    },
    {
      work: `${work}: p99`,
      target: `under 3 times the p99 of ${name}`,
      measured: ratio(filtered.p99Ms / other.p99Ms),
      met: filtered.p99Ms < 3 * other.p99Ms,
    },
  ];
  return [
    ...against(`${work}, pages of 100`, byPart, unfiltered, 'unfiltered pages at random cursors'),
    ...against(`${work}, a few offers each`, byWhole, first, 'a repeated first page'),
    ...against(`${work}, pages of 100`, byPart, first, 'a repeated first page'),
  ];
}

function filterTable(measured: Record<string, Series>): string {
  const rows = Object.entries(measured).map(([name, series]) => [
    ...[name, whole(series.requestsPerS), `${whole(series.slowest)} – ${whole(series.fastest)}`],
    ...[milliseconds(series.p99Ms), String(series.failed)],
  ]);
  return table(['from 300,000 offers', 'requests/s', 'slowest – fastest', 'p99', 'failed'], rows);
}

/** Changes one retailer, so that the server rebuilds its snapshot, and measures every second. */
async function swapUnderLoad(
  run: Run,
  server: Server,
  token: string,
  stores: Stores,
  sample: readonly Retailer[],
): Promise<{ findings: Finding[]; details: string }> {
  const slice = () =>
    runLoad(
      { url: `${server.url}${OFFERS}`, headers: bearer(token, { 'Accept-Encoding': 'gzip' }) },
      SLICE_S,
    );
  const logPath = join(run.folder, 'offerbook.log');
  const [changed] = sample;
  if (changed === undefined) throw new Error('the catalogue is empty');
  const before = [await slice(), await slice(), await slice(), await slice()].slice(1);
  await stores.catalogue.write(async (writer) => {
    await writer.put([{ id: changed.id, document: printRetailer({ ...changed, name: 'Changed' }) }]);
    await writer.markChanged();
  });
  const { catalogue: revision } = await stores.revisions();
  const isReloaded = async () =>
    Bun.$`grep -q -F ${`"revision":${revision},"msg":"catalogue reloaded"`} ${logPath}`.nothrow().quiet();
  const during = [await slice()];
  while ((await isReloaded()).exitCode !== 0) {
    if (during.length > RELOAD_MAX_S) throw new Error('the server did not load the new catalogue');
    during.push(await slice());
  }
  const median = (slices: typeof before, field: 'p99Ms' | 'requestsPerS') =>
    percentile(
      slices.map((each) => each[field]),
      0.5,
    );
  const failed = [...before, ...during].reduce((sum, each) => sum + each.failed, 0);
  const rise = median(during, 'p99Ms') / median(before, 'p99Ms');
  const kept = median(during, 'requestsPerS') / median(before, 'requestsPerS');
  const rows = [
    ['before', before],
    ['during a reload', during],
  ] as const;
  return {
    findings: [
      {
        work: 'reload under full load',
        target: 'p99 less than 3 times as high as before, no failed requests',
        measured: `${ratio(rise)} times, ${failed} failed, in ${during.length * SLICE_S} s`,
        met: rise < 3 && failed === 0,
      },
      {
        work: 'requests per second during the reload',
        target: 'at least 0.8 times the rate before the reload',
        measured: ratio(kept),
        met: kept >= 0.8,
      },
    ],
    details: table(
      ['one-second slices', 'requests/s', 'p99 (median slice)', 'p99 (worst slice)'],
      rows.map(([name, slices]) => [
        name,
        whole(median(slices, 'requestsPerS')),
        milliseconds(median(slices, 'p99Ms')),
        milliseconds(Math.max(...slices.map((each) => each.p99Ms))),
      ]),
    ),
  };
}
