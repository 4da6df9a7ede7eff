// Clicks while several processes change them at once. Who waits for whom is decided by locks that the test holds.

import { describe, expect, test } from 'bun:test';
import { systemClock } from '../../src/domain/clock.ts';
import { openOnce } from '../../src/storage/open-once.ts';
import { clickStore } from '../../src/storage/stores/click-store.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { newOrganisation, openTestStores, untilWaiting } from './open-test-stores.ts';

const AT_MS = Date.UTC(2026, 10, 14);

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('clicks on $name', ({ create }) => {
  const open = openTestStores();

  /** Waits for a lock as long as it takes, however slow the machine is. */
  function openPatient(url: string) {
    const database = open.database(url);
    return clickStore(
      openOnce(async () => ({ ...database, write: (work) => database.write(work) })),
      systemClock,
    );
  }

  test('a purge leaves a click that is being marked as sold, and takes those behind it', async () => {
    const url = await create();
    const stores = await open.stores(url);
    const { id: orgId } = await newOrganisation(stores);
    const [first, , third] = [
      await recordClick(stores, orgId, { activatedAtMs: AT_MS }),
      await recordClick(stores, orgId, { activatedAtMs: AT_MS + 1 }),
      await recordClick(stores, orgId, { activatedAtMs: AT_MS + 2 }),
    ];
    const [importing, purging] = [openPatient(url), openPatient(url)];
    const watched = open.database(url);
    let [marked, purged] = [Promise.resolve(), Promise.resolve(0)];
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT id FROM clicks WHERE id = $1 FOR UPDATE', third.id);
      // Has marked the first, and waits for the third.
      marked = importing.markSold([first.id, third.id]);
      await untilWaiting(watched, 1);
      purged = purging.purge(AT_MS + 1_000);
      await untilWaiting(watched, 2);
    });
    await marked;
    expect(await purged).toBe(1);
    expect(await stores.clicks.list(3)).toEqual([first, third]);
  });
});
