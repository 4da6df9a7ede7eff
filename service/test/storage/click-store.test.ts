// Clicks that several processes change concurrently. The test holds locks to control which process waits for which.

import { describe, expect, test } from 'bun:test';
import type { Click, ClickId, ClickStore } from '../../src/domain/click.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { openOnce } from '../../src/storage/open-once.ts';
import { clickStore } from '../../src/storage/stores/click-store.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { openTestStores, untilWaiting } from './open-test-stores.ts';

const open = openTestStores();

const AT_MS = Date.UTC(2026, 10, 14);

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('clicks on $name', ({ create }) => {
  /** Opens a click store that waits for locks without a timeout, because the machine may be slow. */
  function openPatient(url: string) {
    const database = open.database(url);
    return clickStore(
      openOnce(async () => ({ ...database, write: (work) => database.write(work) })),
      systemClock,
    );
  }

  const tapOf = (click: Click) => ({ key: click.id, click });
  const writes: [string, (store: ClickStore, clicks: readonly Click[]) => Promise<unknown>][] = [
    ['marked as sold', (store, clicks) => store.markSold(clicks.map(({ id }) => id))],
    ['put', (store, clicks) => store.put(clicks)],
    ['recorded', (store, clicks) => store.record(clicks.map(tapOf))],
  ];

  test.each(writes)(
    'clicks %s by two processes in opposite orders do not cause a deadlock',
    async (_, write) => {
      const { url, stores, orgId } = await open.scene({ create });
      // The current time, because old taps would be deleted.
      const nowMs = Date.now();
      const made: Click[] = [];
      for (let n = 0; n < 3; n++)
        made.push(await recordClick(stores, orgId, { activatedAtMs: nowMs + n, clickedAtMs: null }));
      const [first, second, third] = made as [Click, Click, Click];
      await stores.clicks.record(made.map(tapOf));
      const [one, other] = [openPatient(url), openPatient(url)];
      const watched = open.database(url);
      let writing: Promise<unknown> = Promise.resolve();
      await open.database(url).write(async (connection) => {
        await connection.all('SELECT id FROM clicks WHERE id = $1 FOR UPDATE', third.id);
        await connection.all('SELECT key FROM taps WHERE key = $1 FOR UPDATE', third.id);
        // Without a fixed order, each process would lock one click, wait for the third, and then wait for the other process's
        // click.
        writing = Promise.all([write(one, [first, third, second]), write(other, [second, third, first])]);
        await untilWaiting(watched, 2);
      });
      await writing;
      expect(await stores.clicks.list(10)).toEqual(made);
    },
  );

  test('deleting old taps skips taps that another node has locked', async () => {
    const { url, stores, orgId } = await open.scene({ create }, AT_MS + 60_001);
    const old = [
      await recordClick(stores, orgId, { activatedAtMs: AT_MS - 1 }),
      await recordClick(stores, orgId, { activatedAtMs: AT_MS }),
    ] as const;
    const database = open.database(url);
    for (const { id, activatedAtMs } of old)
      await database.all('INSERT INTO taps (key, click_id, at) VALUES ($1, $1, $2)', id, activatedAtMs);
    const current = await recordClick(stores, orgId, { activatedAtMs: AT_MS + 60_001 });
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT 1 FROM taps WHERE key = $1 FOR UPDATE', old[0].id);
      await stores.clicks.record([tapOf(current)]);
    });
    const left = await database.all<{ key: string }>('SELECT key FROM taps ORDER BY at');
    expect(left.map(({ key }) => key)).toEqual([old[0].id, current.id]);
  });

  test('a purge continues past a batch in which an import is marking every click as sold', async () => {
    const { url, stores, orgId } = await open.scene({ create });
    const { id: sold } = await recordClick(stores, orgId, { activatedAtMs: AT_MS });
    const watched = open.database(url);
    const copy = `INSERT INTO clicks (id, org_id, kind, deal_id, retailer_id, passback_uid, activated_at, is_tracked, has_sale)
      SELECT substr(id, 1, 18) || lpad(n::text, 4, '0'), org_id, kind, deal_id, retailer_id, passback_uid, activated_at, is_tracked, 0
        FROM clicks, generate_series(1, 1500) AS n WHERE id = $1 RETURNING id`;
    const copies = (await watched.all<{ id: ClickId }>(copy, sold)).map((row) => row.id).sort();
    const [importing, purging] = [openPatient(url), openPatient(url)];
    const marks = copies.slice(0, 1_200);
    let [marked, purged] = [Promise.resolve(), Promise.resolve(0)];
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT id FROM clicks WHERE id = $1 FOR UPDATE', marks.at(-1) ?? '');
      marked = importing.markSold(marks);
      await untilWaiting(watched, 1);
      purged = purging.purge(AT_MS + 1_000);
      await untilWaiting(watched, 2);
    });
    await marked;
    expect(await purged).toBe(copies.length - marks.length + 1);
    const kept = await watched.all<{ id: ClickId }>('SELECT id FROM clicks ORDER BY id COLLATE "C"');
    expect(kept.map((row) => row.id)).toEqual(marks);
  });
});

describe.each(DATABASES)('clicks on $name', ({ create }) => {
  test('remove() keeps a click that was followed after it was listed', async () => {
    const { stores, orgId } = await open.scene({ create });
    const waiting = await recordClick(stores, orgId, { activatedAtMs: AT_MS, clickedAtMs: null });
    const visited = await recordClick(stores, orgId, { activatedAtMs: AT_MS + 1 });
    const late = await recordClick(stores, orgId, { activatedAtMs: AT_MS + 2, clickedAtMs: null });
    const listed = await stores.clicks.list(10);
    expect(listed).toEqual([waiting, visited, late]);
    const visit = { ...late, clickedAtMs: AT_MS + 3 };
    await stores.clicks.put([visit]);
    await stores.clicks.remove(listed);
    expect(await stores.clicks.list(10)).toEqual([visit]);
  });

  /** Records a tap as a node whose clock shows `ms`; returns the id of the click that the tap counts as. */
  async function tapAt(url: string, orgId: number, key: string, ms: number): Promise<ClickId | undefined> {
    const stores = await open.stores(url, undefined, () => ms);
    const click = await recordClick(stores, orgId, { activatedAtMs: ms });
    return (await stores.clicks.record([{ key, click }]))[0];
  }

  test('taps are deleted when they are more than a minute old, because the clocks of nodes differ', async () => {
    const { url, orgId } = await open.scene({ create });
    await tapAt(url, orgId, 'oldest', AT_MS - 1);
    await tapAt(url, orgId, 'older', AT_MS);
    await tapAt(url, orgId, 'new', AT_MS + 60_000);
    const stored = open.database(url.startsWith('sqlite:') ? `${url}-activations` : url);
    const taps = await stored.all<{ key: string }>('SELECT key FROM taps ORDER BY at');
    expect(taps.map(({ key }) => key)).toEqual(['older', 'new']);
  });
});
