// The pollers of an organisation: one of each kind, each with a token of its own, as clients have it. All go
// from node to node with every page, but for the one that keeps the greatest stamp: it stays on one node, which
// must stay up while it walks.

import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { leakWatch } from '../support/leak-watch.ts';
import type { Cluster } from './cluster.ts';
import { getOrganisation } from './import-order.ts';
import type { Send } from './page-reader.ts';
import { FollowerPoller } from './pollers/follower-poller.ts';
import { GreatestStampPoller } from './pollers/greatest-stamp-poller.ts';
import { OpenWalkPoller } from './pollers/open-walk-poller.ts';
import type { FetchPage, Poller } from './pollers/poller.ts';
import { TilingPoller } from './pollers/tiling-poller.ts';
import type { OrganisationName } from './world.ts';

export interface Member {
  readonly organisation: OrganisationName;
  readonly poller: Poller;
  /** The poller's walk, with what its kind asks of the cluster. */
  walk(limit: number): Promise<void>;
}

export interface Surroundings {
  readonly stores: Stores;
  readonly cluster: Cluster;
  random(...parts: string[]): Random;
  /** Makes a way to fetch pages, with all that may happen between them. */
  reader(organisation: OrganisationName, random: Random, send: Send): FetchPage;
}

export async function buildFleet(organisation: OrganisationName, around: Surroundings): Promise<Member[]> {
  const { cluster } = around;
  const tokens = await Promise.all([0, 1, 2, 3].map(() => issueToken(around.stores, organisation)));
  const [openToken = '', tilingToken = '', followerToken = '', homeToken = ''] = tokens;

  const openRandom = around.random(organisation, 'open walk');
  const open = new OpenWalkPoller(
    around.reader(organisation, openRandom, (path) => cluster.sendToAny(path, openToken, openRandom)),
  );

  const tilingRandom = around.random(organisation, 'tiled windows');
  const tiling = new TilingPoller(
    around.reader(organisation, tilingRandom, (path) => cluster.sendToAny(path, tilingToken, tilingRandom)),
    tilingRandom,
  );

  const followerRandom = around.random(organisation, 'client library');
  const follower = new FollowerPoller(
    around.reader(organisation, followerRandom, (path) =>
      cluster.sendToAny(path, followerToken, followerRandom),
    ),
    followerToken,
  );

  const homeRandom = around.random(organisation, 'max(updatedAt)');
  const home = homeRandom.whole(0, cluster.size - 1);
  const greatest = new GreatestStampPoller(
    around.reader(organisation, homeRandom, (path) => cluster.sendTo(home, path, homeToken)),
  );

  return [
    { organisation, poller: open, walk: (limit) => open.walk(limit) },
    { organisation, poller: tiling, walk: (limit) => tiling.walk(limit) },
    { organisation, poller: follower, walk: (limit) => follower.walk(limit) },
    { organisation, poller: greatest, walk: (limit) => cluster.holding(home, () => greatest.walk(limit)) },
  ];
}

async function issueToken(stores: Stores, organisation: OrganisationName): Promise<string> {
  const text = newTokenText('private');
  leakWatch.noteToken(text);
  const { id: orgId } = await getOrganisation(stores, organisation);
  await stores.tokens.add({
    orgId,
    kind: 'private',
    label: 'poller',
    digest: digestToken(text),
    expiresAtMs: null,
  });
  return text;
}
