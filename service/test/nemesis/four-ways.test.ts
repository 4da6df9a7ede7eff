// The four ways to lose a change, each scripted step by step, once without the protection against it and once with it. This
// shows that the nemesis's comparison detects lost changes.

import { describe, expect, test } from 'bun:test';
import { Random } from '@offerbook/sandbox/random.ts';
import { GreatestStampPoller } from '../chaos/traffic/pollers/greatest-stamp-poller.ts';
import { OpenWalkPoller } from '../chaos/traffic/pollers/open-walk-poller.ts';
import type { Send } from '../chaos/traffic/pollers/page-reader.ts';
import { TilingPoller } from '../chaos/traffic/pollers/tiling-poller.ts';
import { DATABASES } from '../support/databases.ts';
import { GapPoller } from './broken/gap-poller.ts';
import { stampEarly } from './broken/late-writer.ts';
import { movingOrder } from './broken/moving-order.ts';
import { Scene } from './scene.ts';

const LIMIT = 2;
const STAMP_MS = Date.parse('2026-11-14T12:00:01.500Z');

for (const database of DATABASES) {
  describe(`on ${database.name}`, () => {
    const open = async () => Scene.open(await database.create());

    describe('late commits', () => {
      test('a late commit loses a change if the stamp is taken without the lock', async () => {
        await using scene = await open();
        await scene.change(1, 2);
        const [row] = scene.versions([1]);
        if (row === undefined) throw new Error('there is no row');
        const commitLate = stampEarly(scene.nodes[0].databaseUrl, scene.orgId, row, STAMP_MS);
        await scene.change(2);
        const poller = new OpenWalkPoller(scene.pages([scene.node(0)]));
        await poller.walk(LIMIT);
        await commitLate();
        await poller.walk(LIMIT);
        expect(await scene.lostBy(poller)).toEqual([1]);
      });

      test('a late commit does not lose a change if the lock is held from the stamp to the commit', async () => {
        await using scene = await open();
        await scene.change(1, 2);
        const commit = await scene.beginChange(1);
        const quick = scene.change(2);
        const poller = new OpenWalkPoller(scene.pages([scene.node(0)]));
        await poller.walk(LIMIT);
        await Promise.all([commit(), quick]);
        await poller.walk(LIMIT);
        expect(await scene.lostBy(poller)).toEqual([]);
      });
    });

    describe('sort keys that change', () => {
      async function walkWhileTheCursorRowChanges(scene: Scene, send: Parameters<Scene['pages']>[0][number]) {
        for (const number of [1, 2, 3, 4, 5, 6]) await scene.change(number);
        const poller = new OpenWalkPoller(
          scene.pages([send], async (page) => {
            if (page === 1) await scene.change(3);
          }),
        );
        await poller.walk(LIMIT);
        await poller.walk(LIMIT);
        return scene.lostBy(poller);
      }

      test('paging by (updatedAt, id) loses changes, because updatedAt changes during the walk', async () => {
        await using scene = await open();
        const send = movingOrder(scene.nodes[0].databaseUrl, scene.orgId);
        expect(await walkWhileTheCursorRowChanges(scene, send)).toEqual([4, 5, 6]);
      });

      test('paging by id does not lose changes, even if updatedAt changes during the walk', async () => {
        await using scene = await open();
        expect(await walkWhileTheCursorRowChanges(scene, scene.node(0))).toEqual([]);
        expect(scene.brokenPromises).toEqual([]);
      });
    });

    describe('the greatest stamp as the watermark', () => {
      /** `second` requests the second page. */
      async function walkWhileRowsChange(scene: Scene, second: Send) {
        await scene.change(1, 2, 3, 4);
        const poller = new GreatestStampPoller(
          scene.pages([scene.node(0), second, scene.node(0)], async (page) => {
            if (page !== 1) return;
            await scene.change(1);
            await scene.change(4);
          }),
        );
        await poller.walk(LIMIT);
        await poller.walk(LIMIT);
        return scene.lostBy(poller);
      }

      test('using the greatest stamp as the watermark loses changes when each page is a separate walk', async () => {
        await using scene = await open();
        const send = scene.node(0);
        const inAnotherWindow: Send = (path) => send(`${path}&updatedAtLessThan=9999-01-01T00:00:00Z`);
        expect(await walkWhileRowsChange(scene, inAnotherWindow)).toEqual([1]);
      });

      test('using the greatest stamp as the watermark does not lose changes when a walk shows the state of its first page', async () => {
        await using scene = await open();
        expect(await walkWhileRowsChange(scene, scene.node(0))).toEqual([]);
      });
    });

    describe('windows with exclusive bounds', () => {
      async function tile(scene: Scene, Kind: typeof TilingPoller) {
        const poller = new Kind(scene.pages([scene.node(0)]), new Random(1));
        await scene.change(1, 2);
        await poller.walk(LIMIT);
        await scene.change(3);
        await poller.walk(LIMIT);
        return scene.lostBy(poller);
      }

      test('exclusive bounds lose changes stamped at the bound if windows end at the bound', async () => {
        await using scene = await open();
        expect(await tile(scene, GapPoller)).toEqual([1, 2, 3]);
      });

      test('exclusive bounds do not lose changes if windows end a millisecond after the bound', async () => {
        await using scene = await open();
        expect(await tile(scene, TilingPoller)).toEqual([]);
      });
    });
  });
}
