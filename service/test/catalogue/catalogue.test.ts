import { describe, expect, test } from 'bun:test';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { ApiError } from '../../src/domain/api-errors.ts';
import { printRetailer, type Retailer } from '../../src/domain/catalogue.ts';
import type { CatalogueStore } from '../../src/domain/stores.ts';
import type { Uuid } from '../../src/domain/uuid.ts';
import { START_MS, storeOf, uuid } from './arbitrary-catalogue.ts';
import { readPage } from './read-page.ts';

const clock = () => START_MS;
const ALL = { cursor: undefined, limit: 1000 };

/** Every text of a retailer carries the version, so that a mixture of two versions would show. */
function retailers(count: number, version: string): Retailer[] {
  return Array.from({ length: count }, (_, number) => ({
    id: uuid('retailer', number),
    name: version,
    hostname: version,
    url: 'https://shop.example/',
    logo: 'https://shop.example/logo.svg',
    cashbackOffers: [1, 2].map((index) => ({
      id: uuid('offer', number, index),
      featured: false,
      countries: ['DE'],
      cashbackPercentage: 0.05,
      maximumFixedCommissionFee: null,
      description: version,
      category: version,
      termsAndExclusions: '',
    })),
    coupons: [],
    promotions: [],
  }));
}

/** A store whose reads begin when asked and end when told to. */
function heldStore() {
  const state = { version: 'old', reads: [] as { finish: () => void; fail: (error: Error) => void }[] };
  const store: Pick<CatalogueStore, 'read'> = {
    async read(onBatch) {
      const { version } = state;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      state.reads.push({ finish: resolve, fail: reject });
      await promise;
      return await storeOf(retailers(1, version), state.reads.length).read(onBatch);
    },
  };
  return { state, store };
}

/** Lets everything that is under way and does not wait for a read come to an end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('loading', () => {
  test('before the first load there is nothing to show, and a request is told to come back', () => {
    const catalogue = new Catalogue(storeOf([]), clock);
    expect([catalogue.ready, catalogue.revision]).toEqual([false, undefined]);
    expect(() => catalogue.list('retailers')).toThrow(
      new ApiError('unavailable', 'The catalogue is still being loaded.'),
    );
  });

  test('after it, the revision that was read is shown', async () => {
    const catalogue = new Catalogue(storeOf(retailers(2, 'new'), 7), clock);
    await catalogue.refresh();
    expect([catalogue.ready, catalogue.revision]).toEqual([true, 7]);
    expect(readPage(catalogue.list('retailers'), ALL)).toEqual({
      items: retailers(2, 'new')
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(printRetailer),
      cursor: undefined,
    });
  });

  test('an empty catalogue is a catalogue', async () => {
    const catalogue = new Catalogue(storeOf([]), clock);
    await catalogue.refresh();
    for (const list of ['retailers', 'cashbackOffers', 'coupons', 'promotions'] as const) {
      expect(readPage(catalogue.list(list), { ...ALL, name: 'a', country: 'DE' })).toEqual({
        items: [],
        cursor: undefined,
      });
    }
  });

  test('a document that is not in its printed form fails the load instead of being shown wrongly', async () => {
    const document = JSON.stringify(retailers(1, 'new')[0], null, 1);
    const store: Pick<CatalogueStore, 'read'> = {
      async read(onBatch) {
        await onBatch([{ id: uuid('retailer', 0), document }]);
        return 1;
      },
    };
    await expect(new Catalogue(store, clock).refresh()).rejects.toThrow('not the JSON text that was printed');
  });

  test('other work gets its turns while a large catalogue is loaded', async () => {
    const catalogue = new Catalogue(storeOf(retailers(3000, 'new')), clock);
    let turns = 0;
    const count = () => {
      turns++;
      if (!catalogue.ready) setImmediate(count);
    };
    setImmediate(count);
    await catalogue.refresh();
    expect(turns).toBeGreaterThan(5);
  });
});

describe('refreshing', () => {
  test('calls before a run begins share it; calls during a run share one more', async () => {
    const { state, store } = heldStore();
    const catalogue = new Catalogue(store, clock);
    const first = [catalogue.refresh(), catalogue.refresh()];
    await settle();
    expect(state.reads).toHaveLength(1);

    state.version = 'new';
    const second = [catalogue.refresh(), catalogue.refresh(), catalogue.refresh()];
    await settle();
    expect(state.reads).toHaveLength(1);

    state.reads[0]?.finish();
    await Promise.all(first);
    await settle();
    expect(state.reads).toHaveLength(2);
    expect(readPage(catalogue.list('retailers'), ALL).items).toEqual(retailers(1, 'old').map(printRetailer));

    state.reads[1]?.finish();
    await Promise.all(second);
    await settle();
    expect(state.reads).toHaveLength(2);
    expect(readPage(catalogue.list('retailers'), ALL).items).toEqual(retailers(1, 'new').map(printRetailer));
  });

  test('a failed refresh rejects, leaves the old snapshot in place, and does not stop the next one', async () => {
    const { state, store } = heldStore();
    const catalogue = new Catalogue(store, clock);
    const load = catalogue.refresh();
    await settle();
    state.reads[0]?.finish();
    await load;
    const view = catalogue.list('retailers');

    const failing = catalogue.refresh();
    await settle();
    state.version = 'new';
    const next = catalogue.refresh();
    state.reads[1]?.fail(new Error('the database is gone'));
    await expect(failing).rejects.toThrow('the database is gone');
    expect([catalogue.revision, catalogue.list('retailers')]).toEqual([1, view]);
    expect(catalogue.list('retailers')).toBe(view);

    await settle();
    state.reads[2]?.finish();
    await next;
    expect(readPage(catalogue.list('retailers'), ALL).items).toEqual(retailers(1, 'new').map(printRetailer));
  });

  test('a failed first refresh leaves nothing to show and can be tried again', async () => {
    const { state, store } = heldStore();
    const catalogue = new Catalogue(store, clock);
    const load = catalogue.refresh();
    await settle();
    state.reads[0]?.fail(new Error('the database is gone'));
    await expect(load).rejects.toThrow('the database is gone');
    expect(catalogue.ready).toBe(false);
    const again = catalogue.refresh();
    await settle();
    state.reads[1]?.finish();
    await again;
    expect(catalogue.ready).toBe(true);
  });

  test('a walk that crosses a refresh never shows half of a retailer, and a held view stays as it was', async () => {
    let version = 'old';
    const catalogue = new Catalogue(
      { read: (onBatch) => storeOf(retailers(50, version)).read(onBatch) },
      clock,
    );
    await catalogue.refresh();
    const held = catalogue.list('retailers');
    const heldPage = readPage(held, ALL);

    const seen: string[] = [];
    let cursor: Uuid | undefined;
    for (let pages = 0; pages === 0 || (cursor !== undefined && pages < 20); pages++) {
      if (pages === 3) {
        version = 'new';
        await catalogue.refresh();
      }
      const page = readPage(catalogue.list('retailers'), { cursor, limit: 7 });
      seen.push(...page.items);
      cursor = page.cursor;
    }
    const expected = (version: string) =>
      retailers(50, version)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(printRetailer);
    expect(seen).toEqual([...expected('old').slice(0, 21), ...expected('new').slice(21)]);
    expect(readPage(held, ALL)).toEqual(heldPage);
  });
});
