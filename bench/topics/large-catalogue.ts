// Measures a large catalogue: loading time, memory, searches with a different query each time, and latency while the next
// snapshot is built and swapped in.

import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { openStores } from '../../service/src/storage/open-stores.ts';
import { LARGE, partOf } from '../large-catalogue.ts';
import { compare, pathsFile, runLoad, Series } from '../load.ts';
import { bearer, GZIP, prepareCatalogue, startOfferbook } from '../offerbook.ts';
import type { Server } from '../server.ts';
import { megabytes, ratio, whole } from '../table.ts';
import { atLeast, type Finding, p99AtMost, type Run } from '../topic.ts';

const OFFERS = '/v1/cashback-offers/';
const SLICE_S = 1;
const SETTLE_MS = 1_000;
/** High, because the thread that builds the snapshot shares one core with the requests. */
const RELOAD_MAX_S = 120;

export async function largeCatalogue(run: Run): Promise<Finding[]> {
  const { databaseUrl, retailers, serialisedBytes, token } = await prepareCatalogue(run.folder, LARGE);
  await using server = await startOfferbook(run.folder, databaseUrl);
  // The server releases the memory it needed for loading.
  await Bun.sleep(SETTLE_MS);
  const memory = await server.memoryBytes();
  const search = await measureSearch(run, server, token, retailers);
  const reload = await reloadUnderLoad(run, server, token, databaseUrl, retailers[0] as Retailer);
  const memoryAfter = await server.memoryBytes();
  const times = memory.now / serialisedBytes;
  return [
    ...search,
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
    ...reload,
  ];
}

/** Hundreds of retailers share a part of a name, so most pages are full; a whole name matches only a few offers. */
async function measureSearch(
  run: Run,
  { url }: Server,
  token: string,
  retailers: readonly Retailer[],
): Promise<Finding[]> {
  const random = new Random('bench', 'queries');
  const search = (part: (name: string) => string) => () => {
    // A country where the retailer has offers.
    const { name, cashbackOffers } = random.pick(retailers);
    const country = random.pick(random.pick(cashbackOffers).countries);
    return `${OFFERS}?${new URLSearchParams({ name: part(name), country })}`;
  };
  const headers = bearer(token);
  const load = (name: string, path: () => string) => ({
    ...{ url, headers, paths: pathsFile(run.folder, name, path) },
  });
  const measured = await compare(
    'from 300,000 offers',
    {
      'a repeated first page': { url: `${url}${OFFERS}`, headers },
      'pages at random cursors': load('cursors', () => `${OFFERS}?cursor=${crypto.randomUUID()}`),
      'pages by part of a name and country': load(
        'parts',
        search((name) => partOf(name, random)),
      ),
      'pages by whole name and country': load(
        'names',
        search((name) => name),
      ),
    },
    run,
  );
  const first = measured['a repeated first page'];
  const unfiltered = measured['pages at random cursors'];
  const byPart = measured['pages by part of a name and country'];
  const byWhole = measured['pages by whole name and country'];
  const work = 'search by name and country, a new query each time';
  const [many, few] = [`${work}, pages of 100`, `${work}, a few offers each`];
  return [
    atLeast(many, byPart, unfiltered, 0.5, 'unfiltered pages at random cursors'),
    p99AtMost(many, byPart, unfiltered, 3, 'unfiltered pages at random cursors'),
    atLeast(few, byWhole, first, 0.5, 'a repeated first page'),
    p99AtMost(few, byWhole, first, 3, 'a repeated first page'),
    atLeast(many, byPart, first, 0.5, 'a repeated first page'),
    p99AtMost(many, byPart, first, 3, 'a repeated first page'),
  ];
}

/** Changes one retailer, so that the server rebuilds its snapshot, and measures every second. */
async function reloadUnderLoad(
  { folder }: Run,
  server: Server,
  token: string,
  databaseUrl: string,
  retailer: Retailer,
): Promise<Finding[]> {
  const load = { url: `${server.url}${OFFERS}`, headers: bearer(token, GZIP) };
  const slice = () => runLoad(load, SLICE_S);
  const before = [await slice(), await slice(), await slice(), await slice()].slice(1);
  const stores = await openStores(databaseUrl);
  await stores.catalogue.write(async (writer) => {
    await writer.put([{ id: retailer.id, document: printRetailer({ ...retailer, name: 'Changed' }) }]);
    await writer.markChanged();
  });
  const { catalogue: revision } = await stores.revisions();
  await stores.close();
  const entry = `"revision":${revision},"msg":"catalogue reloaded"`;
  const log = join(folder, 'offerbook.log');
  const during = [await slice()];
  while ((await Bun.$`grep -q -F ${entry} ${log}`.nothrow().quiet()).exitCode !== 0) {
    if (during.length > RELOAD_MAX_S) throw new Error('the server did not load the new catalogue');
    during.push(await slice());
  }
  const [earlier, later] = [new Series(before), new Series(during)];
  const failed = earlier.failed + later.failed;
  const rise = later.p99Ms / earlier.p99Ms;
  const kept = later.requestsPerS / earlier.requestsPerS;
  return [
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
  ];
}
