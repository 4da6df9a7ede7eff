// Later pages of a walk show the state of its first page. The record of one walk must never hide a change from another walk.

import { describe, expect, test } from 'bun:test';
import { GreatestStampPoller } from '../chaos/traffic/pollers/greatest-stamp-poller.ts';
import { OpenWalkPoller } from '../chaos/traffic/pollers/open-walk-poller.ts';
import { walkPages } from '../chaos/traffic/pollers/poller.ts';
import { DATABASES } from '../support/databases.ts';
import { Scene } from './scene.ts';

const LIMIT = 2;

class Crash extends Error {}

for (const database of DATABASES) {
  describe(`on ${database.name}`, () => {
    const open = async () => Scene.open(await database.create());

    test('a walk that restarts on another node does not miss a change', async () => {
      await using scene = await open();
      await scene.change(1, 2, 3, 4);
      let crashed = false;
      const poller = new OpenWalkPoller(
        scene.pages([scene.node(0), scene.node(1), scene.node(0), scene.node(1)], async (page) => {
          if (page !== 1 || crashed) return;
          crashed = true;
          throw new Crash();
        }),
      );
      await poller.walk(LIMIT).catch((error: unknown) => expect(error).toBeInstanceOf(Crash));
      await scene.change(4);
      await poller.walk(LIMIT);
      await poller.walk(LIMIT);
      expect(await scene.lostBy(poller)).toEqual([]);
    });

    test('a slower walk over the same window does not change the stamp of a later walk', async () => {
      await using scene = await open();
      await scene.change(1, 2, 3, 4, 5, 6, 7, 8);
      const slower = walkPages(scene.pages([scene.node(0)]), { limit: 2 });
      await slower.next();
      await slower.next();
      await scene.change(8);
      const poller = new OpenWalkPoller(
        scene.pages([scene.node(0)], async (page) => {
          // The slower walk's third page has the same cursor as the later walk's first page.
          if (page === 1) await slower.next();
        }),
      );
      await poller.walk(6);
      await poller.walk(6);
      expect(await scene.lostBy(poller)).toEqual([]);
    });

    test('a walk that begins during an import shows the state of its first page', async () => {
      await using scene = await open();
      await scene.change(1, 2, 3, 4);
      const commit = await scene.beginChange(1, 4);
      const poller = new GreatestStampPoller(
        scene.pages([scene.node(0)], async (page) => {
          if (page === 1) await commit();
        }),
      );
      await poller.walk(LIMIT);
      await poller.walk(LIMIT);
      expect(await scene.lostBy(poller)).toEqual([]);
    });
  });
}
