// A node pins walks in its memory, so it may hold a walk to a stamp that the client has long left behind: the
// client gave the walk up and began it again on another node. Such a pin must cost nothing.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { FirstPagePoller } from './broken/first-page-poller.ts';
import { OpenWalkPoller } from './pollers/open-walk-poller.ts';
import { type FetchPage, type Poller, walkPages } from './pollers/poller.ts';
import { Scene } from './scene.ts';

// The first test on PostgreSQL may have to wait for its server.
setDefaultTimeout(60_000);

const LIMIT = 2;

class Crash extends Error {}

/** The first page from one node; a crash; a change; the first page from the other node, the second from the first. */
async function beginAgainElsewhere(scene: Scene, makePoller: (fetchPage: FetchPage) => Poller) {
  await scene.change(1, 2, 3, 4);
  let crashed = false;
  const poller = makePoller(
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
  return scene.lostBy(poller);
}

for (const database of DATABASES) {
  test(`on ${database.name}, a walk begun again on another node loses nothing to its first attempt`, async () => {
    await using scene = await Scene.open(await database.create());
    expect(await beginAgainElsewhere(scene, (fetchPage) => new OpenWalkPoller(fetchPage))).toEqual([]);
  });

  test(`on ${database.name}, a client that looks at the first page's Complete-Through only can`, async () => {
    await using scene = await Scene.open(await database.create());
    expect(await beginAgainElsewhere(scene, (fetchPage) => new FirstPagePoller(fetchPage))).toEqual([4]);
  });

  test(`on ${database.name}, even that client loses nothing once a node knows that it goes from node to node`, async () => {
    await using scene = await Scene.open(await database.create());
    await scene.change(5, 6, 7);
    const { completeThrough } = await scene.pages([scene.node(0)])({ limit: 1 });
    await scene.change(5, 6, 7);
    const walk = { updatedAtGreaterThan: completeThrough, limit: 1 };
    for await (const _page of walkPages(scene.pages([scene.node(0), scene.node(1), scene.node(0)]), walk));
    expect(await beginAgainElsewhere(scene, (fetchPage) => new FirstPagePoller(fetchPage))).toEqual([]);
  });

  test(`on ${database.name}, a slower walk with the same window does not hold a later one to its own stamp`, async () => {
    await using scene = await Scene.open(await database.create());
    await scene.change(1, 2, 3, 4, 5, 6, 7, 8);
    const slower = walkPages(scene.pages([scene.node(0)]), { limit: 2 });
    await slower.next();
    await slower.next();
    await scene.change(8);
    const poller = new FirstPagePoller(
      scene.pages([scene.node(0)], async (page) => {
        // The third page of the slower walk leads to where the first of the later one has led.
        if (page === 1) await slower.next();
      }),
    );
    await poller.walk(6);
    await poller.walk(6);
    expect(await scene.lostBy(poller)).toEqual([]);
  });
}
