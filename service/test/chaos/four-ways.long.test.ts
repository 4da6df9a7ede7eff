// The four ways to lose a change, each scripted step by step, once without the protection against it and once with it. This
// shows that the comparison of the chaos scenarios detects lost changes.

import { describe, expect, test } from 'bun:test';
import { Random } from '@offerbook/sandbox/random.ts';
import { DATABASES } from '../support/databases.ts';
import { gapPoller, movingOrder, stampEarly } from './broken.ts';
import { Scene } from './cluster/scene.ts';
import {
  greatestStampPoller,
  openWalkPoller,
  type Poller,
  tilingPoller,
  walkPages,
} from './traffic/pollers.ts';

const LIMIT = 2;
const STAMP_MS = Date.parse('2026-11-14T12:00:01.500Z');

/** Walks twice, and returns the numbers of the transactions whose latest version the poller does not have. */
async function lostInTwoWalks(scene: Scene, poller: Poller, limit = LIMIT): Promise<number[]> {
  await poller.walk(limit);
  await poller.walk(limit);
  return scene.lostBy(poller);
}

// Databases lock and isolate imports in different ways.
describe.each(DATABASES.map((it) => [it.name, it] as const))('an import in progress on %s', (_, database) => {
  const open = async () => Scene.open(await database.create());

  test('a late commit loses a change if the stamp is taken without the lock', async () => {
    await using scene = await open();
    await scene.change(1, 2);
    const [row] = scene.versions([1]);
    if (row === undefined) throw new Error('there is no row');
    const commitLate = stampEarly(scene.nodes[0].databaseUrl, scene.orgId, row, STAMP_MS);
    await scene.change(2);
    const poller = openWalkPoller(scene.pages([scene.node(0)]));
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
    const poller = openWalkPoller(scene.pages([scene.node(0)]));
    await poller.walk(LIMIT);
    await Promise.all([commit(), quick]);
    await poller.walk(LIMIT);
    expect(await scene.lostBy(poller)).toEqual([]);
  });

  test('a walk that begins during an import shows the state of its first page', async () => {
    await using scene = await open();
    await scene.change(1, 2, 3, 4);
    const commit = await scene.beginChange(1, 4);
    const pages = scene.pages([scene.node(0)], async (page) => {
      if (page === 1) await commit();
    });
    expect(await lostInTwoWalks(scene, greatestStampPoller(pages))).toEqual([]);
  });
});

const open = async () => Scene.open((await DATABASES[0]?.create()) ?? '');

test.each([
  [
    'paging by (updatedAt, id) loses changes, because updatedAt changes during the walk',
    (scene: Scene) => movingOrder(scene.nodes[0].databaseUrl, scene.orgId),
    [4, 5, 6],
  ],
  [
    'paging by id does not lose changes, even if updatedAt changes during the walk',
    (scene: Scene) => scene.node(0),
    [],
  ],
])('%s', async (_, sendTo, lost) => {
  await using scene = await open();
  for (const number of [1, 2, 3, 4, 5, 6]) await scene.change(number);
  const pages = scene.pages([sendTo(scene)], async (page) => {
    if (page === 1) await scene.change(3);
  });
  expect(await lostInTwoWalks(scene, openWalkPoller(pages))).toEqual(lost);
  if (lost.length === 0) expect(scene.brokenPromises).toEqual([]);
});

describe('the greatest stamp as the watermark', () => {
  // The second page is another walk if its window differs.
  test.each([
    ['loses changes when each page is a separate walk', '&updatedAtLessThan=9999-01-01T00:00:00Z', [1]],
    ['does not lose changes when a walk shows the state of its first page', '', []],
  ])('using the greatest stamp as the watermark %s', async (_, otherWindow, lost) => {
    await using scene = await open();
    await scene.change(1, 2, 3, 4);
    const send = scene.node(0);
    const pages = scene.pages([send, (path) => send(path + otherWindow), send], async (page) => {
      if (page !== 1) return;
      await scene.change(1);
      await scene.change(4);
    });
    expect(await lostInTwoWalks(scene, greatestStampPoller(pages))).toEqual(lost);
  });

  test('a slower walk over the same window does not change the stamp of a later walk', async () => {
    await using scene = await open();
    await scene.change(1, 2, 3, 4, 5, 6, 7, 8);
    const slower = walkPages(scene.pages([scene.node(0)]), { limit: 2 });
    await slower.next();
    await slower.next();
    await scene.change(8);
    const pages = scene.pages([scene.node(0)], async (page) => {
      // The slower walk's third page has the same cursor as the later walk's first page.
      if (page === 1) await slower.next();
    });
    expect(await lostInTwoWalks(scene, openWalkPoller(pages), 6)).toEqual([]);
  });
});

test.each([
  ['exclusive bounds lose changes stamped at the bound if windows end at the bound', gapPoller, [1, 2, 3]],
  ['exclusive bounds do not lose changes if windows end a millisecond after the bound', tilingPoller, []],
] as const)('%s', async (_, newPoller, lost) => {
  await using scene = await open();
  const poller = newPoller(scene.pages([scene.node(0)]), new Random(1));
  await scene.change(1, 2);
  await poller.walk(LIMIT);
  await scene.change(3);
  await poller.walk(LIMIT);
  expect(await scene.lostBy(poller)).toEqual([...lost]);
});
