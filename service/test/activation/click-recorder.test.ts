// Recording taps under wrong clocks, and finding clicks in the spool and in the database.

import { describe, expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { Activation } from '../../src/activation/activation.ts';
import { ActivationDirectory } from '../../src/activation/activation-directory.ts';
import { ClickRecorder } from '../../src/activation/click-recorder.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { openActivation } from '../../src/cli/node/activation.ts';
import { readServeSettings } from '../../src/config.ts';
import type { ActivatedKind, Click, ClickSpool, ClickStore } from '../../src/domain/click.ts';
import { Logger } from '../../src/domain/logger.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import { loadCatalogue } from '../catalogue/arbitrary-catalogue.ts';
import { openTestStores } from '../storage/open-test-stores.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { coupon, id, retailer } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

const START_MS = Date.UTC(2026, 10, 15, 12);
const logger = new Logger('silent', () => {});

describe.each(DATABASES.map((it) => [it.name, it] as const))('on %s', (_, { create }) => {
  const open = openTestStores();

  /** A recorder on these stores. Without a spool of the test, its spool does not exist yet. */
  function recorderOn(
    { clicks: store, organisations }: Stores,
    options: Partial<ConstructorParameters<typeof ClickRecorder>[0]> = {},
  ): ClickRecorder {
    const spool = openSpool(() => join(temporaryFolder(), 'spool.db'));
    const defaults = {
      store,
      spool,
      hasSpool: () => options.spool !== undefined,
      problemOf: () => undefined,
      organisations,
      logger,
    };
    return new ClickRecorder({ ...defaults, ...options });
  }

  /** Stores with one click. */
  async function openRecorded() {
    const { stores, orgId } = await open.scene({ create });
    return { stores, click: await recordClick(stores, orgId) };
  }

  /** Stores whose only click is in the spool. */
  async function openSpooled() {
    const { stores, click } = await openRecorded();
    await stores.clicks.remove([click]);
    const spool = openSpool(() => join(temporaryFolder(), 'spool.db'));
    await spool.put([click]);
    return { stores, store: stores.clicks, click, spool, [Symbol.asyncDispose]: () => spool.close() };
  }

  /** A node's activation with a clock that the test sets, and users who tap on one link. */
  async function openTaps() {
    const { url: databaseUrl, stores, org, orgId, clock, pass } = await open.scene({ create }, START_MS);
    const { publicId } = org;
    const settings = readServeSettings({ port: '0', spool: temporaryFolder() }, {});
    const catalogue = new Catalogue(clock);
    const options = { settings, databaseUrl, clock, logger, clickDeadlineMs: MINUTE_MS };
    const { activation, recorder, start, stop } = openActivation(options, stores, catalogue);
    await start();
    const kind: ActivatedKind = 'retailers';
    const site = { url: '', retailerUrl: '', retailerDomains: [] };
    const deal = { kind, dealId: id(1), retailerId: id(1), orgId, ...site, isActive: true };
    const request = { kind, id: id(1), orgId: publicId, passbackData: undefined, ipNetwork: '127.0.0.1' };
    return {
      pass,
      recorder,
      tap: async (passbackUid: string) =>
        (await activation.activate(deal, { ...request, passbackUid }, 'follow')).id,
      prepare: () => recordClick(stores, orgId, { clickedAtMs: null }),
      recorded: async () => (await stores.clicks.list(10)).map((click) => click.id),
      [Symbol.asyncDispose]: stop,
    };
  }

  test('a tap stamped by a fast clock does not suppress later clicks', async () => {
    await using taps = await openTaps();
    const { pass, tap, recorded } = taps;
    pass(60 * MINUTE_MS);
    const ahead = await tap('anna');
    pass(-59 * MINUTE_MS);
    const later = await tap('anna');
    pass(9_999);
    expect(await tap('anna')).toBe(later);
    expect(await recorded()).toEqual([later, ahead] as never);
  });

  test('taps that share a commit are stored as one click even if the clock is set back between them', async () => {
    await using taps = await openTaps();
    const { pass, tap, recorder, recorded } = taps;
    const tapping = [tap('anna'), tap('ben')];
    for (const backMs of [3, 20_000]) {
      pass(-backMs);
      tapping.push(tap('anna'));
    }
    const [anna, ben, ...again] = await Promise.all(tapping);
    expect(again).toEqual([anna, anna]);
    expect(await recorded()).toEqual([anna, ben].sort() as never);
    expect(recorder.state).toEqual({ fate: 'recorded', spooledCount: 0 });
  });

  test('a click is found while it moves from the spool to the database', async () => {
    await using spooled = await openSpooled();
    const { stores, store, click, spool } = spooled;
    // Another worker moves the click between the query of the database and the read of the spool.
    const moved: ClickSpool = {
      ...spool,
      async find(ids) {
        await store.put([click]);
        await spool.remove([click]);
        return spool.find(ids);
      },
    };
    const recorder = recorderOn(stores, {
      store,
      spool: moved,
    });
    expect(await recorder.find(click.id)).toEqual(click);
  });

  test('a followed click stays in memory for ten seconds, regardless of further visits, without the passback fields', async () => {
    const { stores, orgId, clock, pass } = await open.scene({ create }, START_MS);
    const click = await recordClick(stores, orgId, { passbackData: 'data', activatedAtMs: START_MS });
    const recorder = recorderOn(stores);
    const catalogue = await loadCatalogue([retailer(1, { coupons: [coupon(21)] })], clock);
    const directory = new ActivationDirectory(stores);
    const activation = new Activation({ directory, recorder, catalogue, clock, logger });
    await activation.visit(click);
    expect((await activation.findClick(click.id)).click).toEqual({
      ...click,
      passbackUid: null,
      passbackData: null,
    });
    pass(9_999);
    expect(activation.isRecent(click.id)).toBe(true);
    await activation.visit(click);
    pass(1);
    expect(activation.isRecent(click.id)).toBe(false);
  });

  test('concurrent lookups of one click share a statement, and each returns the click', async () => {
    const { stores, click } = await openRecorded();
    const batches: number[] = [];
    const recorder = recorderOn(stores, {
      store: {
        ...stores.clicks,
        find(ids) {
          batches.push(ids.length);
          return stores.clicks.find(ids);
        },
      },
    });
    const found = await Promise.all([1, 2, 3].map(() => recorder.find(click.id)));
    expect(found).toEqual([click, click, click]);
    expect(batches).toEqual([1]);
  });

  test('a spool row that is not a valid click is not found', async () => {
    await using spooled = await openSpooled();
    const { stores, store, click, spool } = spooled;
    const find = async (problem: string | undefined, findInStore: ClickStore['find']) => {
      const recorder = recorderOn(stores, {
        store: { ...store, find: findInStore },
        spool,
        problemOf: () => problem,
      });
      return recorder.find(click.id).catch((error: Error) => error.message);
    };
    const unreachable = () => Promise.reject(new StorageError('unavailable', 'unreachable'));
    expect([
      await find(undefined, store.find),
      await find('is forged', store.find),
      await find(undefined, unreachable),
      await find('is forged', unreachable),
    ]).toEqual([click, undefined, click, 'unreachable']);
  });

  test('when several visits to one link share a commit, the first visit is stored', async () => {
    await using taps = await openTaps();
    const { recorder, click } = { ...taps, click: await taps.prepare() };
    const [first, second] = [click.activatedAtMs + 1, click.activatedAtMs + 2];
    await Promise.all([first, second].map((clickedAtMs) => recorder.record({ ...click, clickedAtMs })));
    expect(await recorder.find(click.id)).toEqual({ ...click, clickedAtMs: first });
  });

  test('a failed drain leaves every click in the spool, and the next drain moves all of them', async () => {
    await using spooled = await openSpooled();
    const { stores, store, click, spool } = spooled;
    const spooledAtFailure: Click[][] = [];
    const failsOnce: ClickStore = {
      ...store,
      async put(clicks) {
        if (spooledAtFailure.length > 0) return store.put(clicks);
        spooledAtFailure.push(await spool.list(10));
        throw new StorageError('unavailable', 'the database has just gone away');
      },
    };
    const moved = Promise.withResolvers<void>();
    const noting = new Logger('info', (line) => line.includes('moved from the spool') && moved.resolve());
    const recorder = recorderOn(stores, {
      store: failsOnce,
      spool,
      logger: noting,
    });
    recorder.start();
    await moved.promise;
    await recorder.stop();
    expect(spooledAtFailure).toEqual([[click]]);
    expect(await store.list(10)).toEqual([click]);
    expect(await spool.list(10)).toEqual([]);
  });

  test('a click that waits for a slow commit is spooled within its own deadline', async () => {
    const { stores, orgId } = await open.scene({ create });
    const { clicks } = stores;
    const [first, second] = [await recordClick(stores, orgId), await recordClick(stores, orgId)];
    const spool = openSpool(() => join(temporaryFolder(), 'spool.db'));
    // A deadline that starts with the second commit would end after the test.
    const deadlineMs = 600_000;
    let commits = 0;
    const firstCommit = Promise.withResolvers<void>();
    const slow: ClickStore = {
      ...clicks,
      put: () => (++commits > 1 ? new Promise<void>(() => {}) : firstCommit.promise),
    };
    const recorder = recorderOn(stores, {
      store: slow,
      spool,
      deadlineMs,
    });
    const recording = recorder.record(first);
    // Requests that arrive together share a commit, so the second must arrive after the first commit began.
    await until(() => commits);
    const waited = recorder.record(second);
    const nowMs = performance.now();
    using _ = spyOn(performance, 'now').mockImplementation(() => nowMs + deadlineMs - 1);
    firstCommit.resolve();
    expect([await recording, await waited]).toEqual([first.id, second.id]);
    expect(await spool.list(10)).toEqual([second]);
    await recorder.stop();
    await spool.close();
  });

  test('stopping waits for the commit in progress, so that its clicks get their responses', async () => {
    const { stores, click } = await openRecorded();
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const recorder = recorderOn(stores, {
      store: {
        ...stores.clicks,
        async put() {
          begun.resolve();
          await mayEnd.promise;
        },
      },
      deadlineMs: MINUTE_MS,
    });
    const ended: string[] = [];
    const recording = recorder.record(click).then(() => ended.push('recorded'));
    await begun.promise;
    const stopping = recorder.stop().then(() => ended.push('stopped'));
    await new Promise((resolve) => setImmediate(resolve));
    mayEnd.resolve();
    await Promise.all([recording, stopping]);
    expect(ended).toEqual(['recorded', 'stopped']);
  });
});
