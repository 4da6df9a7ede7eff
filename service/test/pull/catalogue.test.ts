// Catalogues pulled from the fake networks: the database offers what the networks offer, and nothing is withdrawn that they
// still offer, whatever fails.

import { describe, expect, test } from 'bun:test';
import { NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { forgetSource } from '../../src/pull/forget-source.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { retailer } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { DATABASE } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';
import { Shops } from './shops.ts';

describe.each(DATABASES)('on $name', (database) => {
  // One with JSON and requests per programme, one with a login and XML, and on SQLite all of them.
  const networks = NETWORKS.filter(
    (name) => database.name === 'SQLite' || ['awin', 'rakuten'].includes(name),
  );

  test.each(networks)('%s: after a pull, the database offers what the network offers', async (network) => {
    await using shops = await Shops.open(database);
    const [first] = await shops.pull(network);
    const offered = await shops.offered();
    expect([first?.error, offered]).toEqual([null, shops.truth(network)]);
    expect(first?.counts).toEqual({ added: 6, changed: 0, unchanged: 0, withdrawn: 0, invalid: 0 });
    expect(offered.length).toBeGreaterThan(20);

    // The same again changes nothing, so servers do not reload.
    const revisions = await shops.stores.revisions();
    const [second] = await shops.pull(network);
    expect(second?.counts).toEqual({ added: 0, changed: 0, unchanged: 6, withdrawn: 0, invalid: 0 });
    expect(await shops.stores.revisions()).toEqual(revisions);

    shops.nowMs += DAY_MS;
    const startedMs = shops.nowMs;
    const [third] = await shops.pull(network);
    expect(errorsOf([third].flatMap((report) => report ?? []))).toEqual([null]);
    expect(await shops.offered()).toEqual(shops.truth(network));
    expect(await shops.offered()).not.toEqual(offered);
    expect(await shops.stores.pulls.list()).toMatchObject([
      { stream: 'catalogue', orgName: null, completeThroughMs: startedMs, error: null },
    ]);
    const [entry] = await shops.stores.imports.list({ limit: 1 });
    expect(entry).toMatchObject({
      kind: 'catalogue',
      outcome: 'done',
      fileName: expect.stringMatching(/^catalogue 2026-11-15T12:/),
    });
    // The client stays within the rate of the network.
    expect(shops.networks.answered.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('two pulls at the same time do not withdraw retailers of the other network', async () => {
    await using shops = await Shops.open(database);
    // As in another process: imports wait for each other while they hold a connection.
    await using other = closing(await openStores(shops.url, COMMAND_OPTIONS, () => shops.nowMs));
    const pullBoth = () => Promise.all([shops.pull('awin'), shops.pull('impact', {}, other)]);
    await pullBoth();
    expect(await shops.offered()).toEqual(shops.truth('awin', 'impact'));
    shops.nowMs += DAY_MS;
    const reports = (await pullBoth()).flat();
    expect(errorsOf(reports)).toEqual([null, null]);
    expect(await shops.offered()).toEqual(shops.truth('awin', 'impact'));
  });

  test('a network that is down for four days keeps its retailers, and the other network is still pulled', async () => {
    await using shops = await Shops.open(database);
    for (const network of ['awin', 'impact'] as const) await shops.pull(network);
    const { ledger } = shops.networks.fakes;
    const names = ledger.programmes('awin', shops.nowMs).map(({ retailer }) => retailer.name);
    const ofAwin = async () => (await shops.stored()).filter(({ name }) => names.includes(name));
    const before = await ofAwin();
    shops.fault = (network) => (network === 'awin' ? 'server error' : undefined);
    for (let day = 1; day <= 4; day++) {
      shops.nowMs += DAY_MS;
      const [awin] = await shops.pull('awin');
      const [impact] = await shops.pull('impact');
      expect(awin?.error).toMatch(
        /^programmes: the network answered with status 50\d; the stored catalogue of 2026-11-14T12:05:00 stays as it is$/,
      );
      expect(impact?.error).toBeNull();
      expect(await ofAwin()).toEqual(before);
    }
    expect(await shops.stores.pulls.list()).toMatchObject([
      { source: 'awin:77777', error: expect.stringContaining('status 50') },
      { source: 'impact:IRsandbox77777', error: null },
    ]);
    shops.fault = () => undefined;
    shops.nowMs += HOUR_MS;
    for (const network of ['awin', 'impact'] as const) await shops.pull(network);
    expect(await shops.offered()).toEqual(shops.truth('awin', 'impact'));
  });

  test('a file does not withdraw pulled retailers, and a pull does not withdraw retailers from a file', async () => {
    await using shops = await Shops.open(database);
    const file = () => sourceFrom(ndjson([retailer(1, { name: 'Partner' }), retailer(2, { name: 'Other' })]));
    await importCatalogue(shops.stores.catalogue, file(), {});
    await shops.pull('cj');
    const names = async () => (await shops.stored()).map(({ name }) => name).sort();
    const all = await names();
    expect(all).toHaveLength(8);
    const report = await importCatalogue(
      shops.stores.catalogue,
      sourceFrom(ndjson([retailer(1, { name: 'Partner' })])),
      {},
    );
    expect(report).toMatchObject({ unchanged: 1, withdrawn: 1 });
    expect(await names()).toEqual(all.filter((name) => name !== 'Other'));
  });

  test('a pull takes over a retailer from a file even if it is unchanged, so that the next file does not withdraw it', async () => {
    await using shops = await Shops.open(database);
    const { catalogue } = shops.stores;
    const file = (...numbers: number[]) => sourceFrom(ndjson(numbers.map((number) => retailer(number))));
    await importCatalogue(catalogue, file(1, 2), {});
    const pulled = { source: 'awin:1', nowMs: shops.nowMs, finish: async () => {} };
    expect(await importCatalogue(catalogue, file(1), { pulled })).toMatchObject({
      unchanged: 1,
      withdrawn: 0,
    });
    expect(await importCatalogue(catalogue, file(2), {})).toMatchObject({ unchanged: 1, withdrawn: 0 });
    expect(await shops.stored()).toHaveLength(2);
  });
});

const ofProgramme = (request: Request, shops: Shops, index: number) =>
  request.url.includes(`advertiserId=${advertisers(shops)[index]}&`);
const advertisers = (shops: Shops) =>
  shops.networks.fakes.ledger.programmes('awin', shops.nowMs).map(({ advertiserId }) => advertiserId);
const promotions = (body: unknown) => (request: Request) =>
  request.url.endsWith('/promotions') ? Response.json(body) : undefined;

/** What a network answers to some requests, by what is wrong with it, and the start of the error. */
const INCOMPLETE: Record<
  string,
  ['awin' | 'cj', (request: Request, shops: Shops) => Response | undefined, RegExp]
> = {
  'the commission groups of one programme cannot be read': [
    'awin',
    (request, shops) => (ofProgramme(request, shops, 3) ? new Response('', { status: 500 }) : undefined),
    /^commission-groups of \d+: the network answered with status 500/,
  ],
  'a page has no page numbers': ['awin', promotions({ data: [] }), /^offers: /],
  'a page is a different one': [
    'awin',
    promotions({ data: [], pagination: { page: 1, pageSize: 5, totalPages: 9 } }),
    /^offers: /,
  ],
  'a page is a bare list': ['awin', promotions([]), /^offers: /],
  'a page has no rows': ['awin', promotions({}), /^offers: /],
  'a list of one retailer contains rows of another': [
    'awin',
    (request, shops) =>
      ofProgramme(request, shops, 0)
        ? Response.json({
            ...{ advertiser: advertisers(shops)[1], publisher: 77777 },
            commissionGroups: [{ groupId: 1, type: 'percentage', percentage: 5 }],
          })
        : undefined,
    /belongs to another advertiser; only rows of \d+ were requested/,
  ],
  'a page of CJ has fewer rows than it states': [
    'cj',
    ({ url }) =>
      url.includes('/link-search')
        ? new Response(
            '<cj-api><links total-matched="0" records-returned="1" page-number="1"></links></cj-api>',
          )
        : undefined,
    /^links: the response has 0 rows instead of 1/,
  ],
};

test.each(Object.entries(INCOMPLETE))('nothing changes if %s', async (_, [network, answer, error]) => {
  await using shops = await Shops.open(DATABASE);
  await shops.pull(network);
  const before = await shops.stored();
  shops.nowMs += DAY_MS;
  shops.networks.intercept = (request) => answer(request, shops);
  const [report] = await shops.pull(network);
  expect([report?.error, await shops.stored()]).toEqual([expect.stringMatching(error), before]);
});

describe.each(['drift', 'moved row'] as const)('a list that changes between two pages: %s', (fault) => {
  test.each(NETWORKS)('%s: nothing is withdrawn that the network still offers', async (network) => {
    await using shops = await Shops.open(DATABASE, { pageSizeMax: 2 });
    await shops.pull(network);
    const requests = new Map<string, number>();
    let faults = 0;
    // Every list changes once, before its second page.
    shops.fault = (_network, _number, target = '') => {
      const [path = ''] = target.split('?');
      const number = (requests.get(path) ?? 0) + 1;
      requests.set(path, number);
      if (number !== 2) return undefined;
      faults++;
      return fault;
    };
    const [report] = await shops.pull(network);
    expect([report?.error, await shops.offered()]).toEqual([null, shops.truth(network)]);
    expect(faults).toBeGreaterThan(0);
  });
});

test.each(NETWORKS)(
  '%s: whatever fails, a pull stores the whole catalogue or changes nothing',
  async (network) => {
    await using shops = await Shops.open(DATABASE, { programmes: 3 });
    const plan = randomFaults(11, 0.25);
    let isHonest = true;
    shops.fault = (name, number) => (isHonest ? undefined : plan(name, number));
    await shops.pull(network);
    isHonest = false;
    const outcomes = { complete: 0, failed: 0 };
    for (let pass = 0; pass < 6; pass++) {
      // The next pass must not cross a full hour.
      shops.nowMs = Math.ceil(shops.nowMs / HOUR_MS) * HOUR_MS + 7 * HOUR_MS;
      const before = await shops.stored();
      const [report] = await shops.pull(network);
      if (report?.error === null) expect(await shops.offered()).toEqual(shops.truth(network));
      else expect(await shops.stored()).toEqual(before);
      outcomes[report?.error === null ? 'complete' : 'failed']++;
    }
    expect(outcomes.complete).toBeGreaterThan(0);
  },
);

test('refuses a catalogue that is suddenly empty, unless withdrawals are allowed', async () => {
  await using shops = await Shops.open(DATABASE);
  await shops.pull('awin');
  const before = await shops.stored();
  shops.networks.intercept = (request) =>
    request.url.includes('/programmes') ? Response.json([]) : undefined;
  const [refused] = await shops.pull('awin');
  expect(refused?.error).toStartWith(
    'the catalogue of awin:77777 would withdraw 6 of 6 retailers, more than 50 %; nothing was imported. The network may have sent an incomplete catalogue. If the retailers are gone, add --allow-withdrawals',
  );
  expect(await shops.stored()).toEqual(before);
  const [allowed] = await shops.pull('awin', { allowWithdrawals: true });
  expect(allowed?.counts).toMatchObject({ withdrawn: 6 });
  expect(await shops.stored()).toEqual([]);
});

test('refuses a catalogue that suddenly has no coupons and promotions, unless they have ended', async () => {
  await using shops = await Shops.open(DATABASE, { programmes: 12 });
  await shops.pull('awin');
  const before = await shops.stored();
  shops.networks.intercept = (request) =>
    request.url.endsWith('/promotions')
      ? Response.json({ data: [], pagination: { page: 1, pageSize: 200, totalPages: 1 } })
      : undefined;
  const [refused] = await shops.pull('awin');
  expect(refused?.error).toMatch(/would withdraw \d+ of \d+ (?:coupons|promotions), more than 50 %/);
  expect(await shops.stored()).toEqual(before);
  shops.nowMs += 365 * DAY_MS;
  expect((await shops.pull('awin'))[0]?.error).toBeNull();
});

test('nothing changes if a row is invalid; with --skip-invalid, the valid rows are imported and nothing is withdrawn', async () => {
  await using shops = await Shops.open(DATABASE);
  await shops.pull('impact');
  const before = await shops.stored();
  shops.nowMs += DAY_MS;
  const [first] = shops.networks.fakes.ledger.programmes('impact', shops.nowMs);
  const truth = shops.truth('impact');
  const campaign = { CampaignId: String(first?.advertiserId), CampaignName: '', CampaignUrl: 'x' };
  const page = { '@page': '1', '@numpages': '1', '@total': '1', '@nextpageuri': '' };
  shops.networks.intercept = (request) =>
    /\/Campaigns\?/.test(request.url) ? Response.json({ ...page, Campaigns: [campaign] }) : undefined;
  const [refused] = await shops.pull('impact');
  expect(refused?.error).toContain('CampaignName');
  expect(await shops.stored()).toEqual(before);
  const [skipped] = await shops.pull('impact', { skipInvalid: true });
  expect(skipped).toMatchObject({ error: null, counts: { withdrawn: 0, invalid: 1 } });
  expect(await shops.stored()).toEqual(before);
  shops.networks.intercept = () => undefined;
  await shops.pull('impact');
  expect(await shops.offered()).toEqual(truth);
});

test('--dry-run changes nothing', async () => {
  await using shops = await Shops.open(DATABASE);
  const [report] = await shops.pull('cj', { dryRun: true });
  expect(report).toMatchObject({ completeThroughMs: null, counts: { added: 6 }, error: null });
  expect(await shops.stored()).toEqual([]);
  expect(await shops.stores.pulls.list()).toEqual([]);
  expect(await shops.stores.imports.list({ limit: 1 })).toEqual([]);
});

test('a pull of sales and catalogue reads the catalogue every six hours', async () => {
  await using shops = await Shops.open(DATABASE);
  const org = await shops.stores.organisations.create('acme');
  const streams = async () =>
    (await shops.pull('partnerize', { only: undefined, org })).map(({ stream, error }) => error ?? stream);
  expect(await streams()).toEqual(['changes', 'catalogue']);
  shops.nowMs += 5 * HOUR_MS;
  expect(await streams()).toEqual(['changes']);
  shops.nowMs += HOUR_MS;
  expect(await streams()).toEqual(['changes', 'catalogue']);
});

test('forgetting a source removes its retailers, its state and its request counts, but nothing from other sources', async () => {
  await using shops = await Shops.open(DATABASE);
  for (const network of ['awin', 'cj'] as const) await shops.pull(network);
  const how = { by: 'test@host', version: '0' };
  const report = await forgetSource('awin:77777', how, shops.stores, () => shops.nowMs);
  expect(report.withdrawn).toBe(6);
  expect(await shops.offered()).toEqual(shops.truth('cj'));
  const { pulls } = shops.stores;
  const left = [await pulls.list(), await pulls.listRequests()].map((all) => all.map(({ source }) => source));
  expect(left).toEqual([['cj:7000000'], ['cj:7000000']]);
});
