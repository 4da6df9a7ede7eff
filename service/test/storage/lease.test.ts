import { describe, expect, test } from 'bun:test';
import { type LeaseStore, openLease } from '../../src/domain/lease.ts';
import { holdLease, place } from '../../src/pull/held-lease.ts';
import { DATABASES } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { openTestStores } from './open-test-stores.ts';

const FAST = { renewEveryMs: 5, checkEveryMs: 5 };

describe.each(DATABASES)('leases on $name', (database) => {
  const open = openTestStores();
  const openStore = async (): Promise<LeaseStore> => (await open.stores(await database.create())).leases;

  test('only the current holder and beat can be replaced, renewed or released', async () => {
    const store = await openStore();
    expect(await store.acquire('a', 'x', undefined)).toBe(true);
    expect(await store.acquire('a', 'y', undefined)).toBe(false);
    expect(await store.acquire('b', 'y', undefined)).toBe(true);
    expect([await store.renew('a', 'x'), await store.renew('a', 'y')]).toEqual([true, false]);
    expect(await store.find('a')).toEqual({ holder: 'x', beat: 1 });
    for (const old of [
      { holder: 'x', beat: 0 },
      { holder: 'x', beat: 2 },
      { holder: 'y', beat: 1 },
    ])
      expect(await store.acquire('a', 'y', old)).toBe(false);
    await store.release('a', 'y');
    expect(await store.acquire('a', 'y', { holder: 'x', beat: 1 })).toBe(true);
    expect([await store.find('a'), await store.find('b')]).toEqual([
      { holder: 'y', beat: 2 },
      { holder: 'y', beat: 0 },
    ]);
    await store.release('a', 'y');
    expect(await store.find('a')).toBeUndefined();
  });

  // The rest does not depend on the database.
  if (database !== DATABASES[0]) return;

  test('a process takes over when the lease was not renewed for its duration, and takes it back in the same way', async () => {
    const store = await openStore();
    let nowMs = 0;
    let isCutOff = true;
    const start = (own: LeaseStore) => {
      const lease = openLease({ store: own, name: 'a', timings: FAST, monotonicMs: () => nowMs });
      lease.start();
      return lease;
    };
    const renew: LeaseStore['renew'] = (...args) =>
      isCutOff ? Promise.reject(new Error('cut off')) : store.renew(...args);
    const first = start({ ...store, renew });
    await until(() => first.isHeld);
    expect([first.isSafeFor(24_999), first.isSafeFor(25_000)]).toEqual([true, false]);
    let checks = 0;
    const find: LeaseStore['find'] = (name) => {
      checks++;
      return store.find(name);
    };
    const second = start({ ...store, find });
    nowMs = 24_999;
    const before = checks;
    await until(() => checks > before + 2);
    expect([second.isHeld, first.isSafeFor(0), first.isSafeFor(1)]).toEqual([false, true, false]);
    await until(() => {
      nowMs += 25_000;
      return second.isHeld;
    });
    expect(first.isSafeFor(0)).toBe(false);
    isCutOff = false;
    await until(() => !first.isHeld);
    await second.stop(true);
    await until(() => first.isHeld);
    await first.stop(false);
    expect((await store.find('a'))?.holder).toBe(first.holder);
  });

  test('the time of a slow take or renewal counts as part of the lease', async () => {
    const store = await openStore();
    let nowMs = 0;
    let renewals = 0;
    const { promise: nextRenewal, resolve: goOn } = Promise.withResolvers<void>();
    const renew: LeaseStore['renew'] = async (...args) => {
      if (++renewals > 1) await nextRenewal;
      const isRenewed = await store.renew(...args);
      if (renewals === 1) nowMs = 20_000;
      return isRenewed;
    };
    const acquire: LeaseStore['acquire'] = async (...args) => {
      const isTaken = await store.acquire(...args);
      nowMs = 3_000;
      return isTaken;
    };
    let safe: boolean[] = [];
    const onTaken = () => {
      safe = [lease.isSafeFor(21_999), lease.isSafeFor(22_000)];
    };
    const own = { ...store, acquire, renew };
    const lease = openLease({ store: own, name: 'a', timings: FAST, monotonicMs: () => nowMs, onTaken });
    lease.start();
    // It was taken between 0 and 3,000, and renewed for the first time between 3,000 and 20,000.
    await until(() => renewals === 2);
    expect([...safe, lease.isSafeFor(7_999), lease.isSafeFor(8_000)]).toEqual([true, false, true, false]);
    goOn();
    await lease.stop(true);
  });

  test('the time of a slow check does not count as time without a renewal', async () => {
    const store = await openStore();
    await store.acquire('a', 'x', undefined);
    let nowMs = 0;
    let checks = 0;
    const find: LeaseStore['find'] = (name) => {
      if (++checks === 1) nowMs = 25_000;
      return store.find(name);
    };
    const lease = openLease({
      store: { ...store, find },
      name: 'a',
      timings: FAST,
      monotonicMs: () => nowMs,
    });
    lease.start();
    for (const atMs of [25_000, 49_999]) {
      nowMs = atMs;
      const before = checks;
      await until(() => lease.isHeld || checks > before + 2);
      expect([atMs, lease.isHeld]).toEqual([atMs, false]);
    }
    nowMs = 50_000;
    await until(() => lease.isHeld);
    await lease.stop(true);
  });

  test('a second pull is refused while the first renews its lease, even from a container with the same host name and process id', async () => {
    const store = await openStore();
    await using _first = await holdLease(store, 'awin:1', 'ann@host', FAST);
    await expect(holdLease(store, 'awin:1', 'ann@host', FAST)).rejects.toThrow(
      `ann@host (process ${process.pid}) is pulling from awin:1; nothing was changed. Try again later`,
    );
    await using _other = await holdLease(store, 'awin:2', 'ann@host', FAST);
  });

  test('a pull does not take a lost lease again', async () => {
    const store = await openStore();
    const lost = openLease({ store, name: 'a', timings: FAST });
    const other = openLease({ store, name: 'b', timings: FAST });
    for (const lease of [lost, other]) expect(await lease.takeUnlessUsed()).toBeUndefined();
    await store.release('a', lost.holder);
    await until(() => !lost.isHeld);
    const before = (await store.find('b'))?.beat ?? 0;
    await until(async () => ((await store.find('b'))?.beat ?? 0) > before + 5);
    expect(await store.find('a')).toBeUndefined();
    await other.stop(true);
  });

  test('the lease of a process that has ended is taken at once, unless the process ran elsewhere', async () => {
    const store = await openStore();
    const { pid } = Bun.spawnSync(['true']);
    const holder = (where: string) => `ann@host (process ${pid}) [${where} 1]`;
    await store.acquire('awin:1', holder(place()), undefined);
    await using _held = await holdLease(store, 'awin:1', 'ann@host', FAST);

    const elsewhere = openLease({
      ...{ store, name: 'awin:2', timings: FAST },
      holder: holder('elsewhere'),
    });
    await elsewhere.takeUnlessUsed();
    await expect(holdLease(store, 'awin:2', 'ann@host', FAST)).rejects.toThrow('is pulling from awin:2');
    await elsewhere.stop(true);
    await using _second = await holdLease(store, 'awin:2', 'ann@host', FAST);
  });
});
