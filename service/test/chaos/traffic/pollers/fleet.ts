// The pollers of an organisation. One of each documented kind switches between two tokens at random, as during a rotation. Two
// further pollers, with one token each, make full copies of the same window. Every page is requested from a
// random node. The poller that continues from the greatest stamp has a single token, like a client whose author has not read
// about walks.

import type { Random } from '@offerbook/sandbox/random.ts';
import { digestToken, newTokenText } from '../../../../src/domain/access-token.ts';
import type { Stores } from '../../../../src/domain/stores.ts';
import { leakWatch } from '../../../support/leak-watch.ts';
import type { Cluster } from '../../cluster/nodes.ts';
import { LONER, type OrganisationName } from '../../model/world.ts';
import { getOrganisation } from '../imports/import-order.ts';
import { FollowerPoller } from './follower-poller.ts';
import { type CheckSnapshot, FullCopyPoller } from './full-copy-poller.ts';
import { GreatestStampPoller } from './greatest-stamp-poller.ts';
import { OpenWalkPoller } from './open-walk-poller.ts';
import type { Send } from './page-reader.ts';
import type { FetchPage, Poller } from './poller.ts';
import { TilingPoller } from './tiling-poller.ts';

export interface Member {
  readonly organisation: OrganisationName;
  readonly poller: Poller;
  /** Lets the poller make one walk. */
  walk(limit: number): Promise<void>;
}

export interface Surroundings {
  readonly stores: Stores;
  readonly cluster: Cluster;
  random(...parts: string[]): Random;
  /** Returns a function that fetches pages, and sometimes disturbs the walk between two pages. */
  reader(organisation: OrganisationName, random: Random, send: Send): FetchPage;
  /** Compares a walk with the state at its first page. */
  checkSnapshot(organisation: OrganisationName, ...walk: Parameters<CheckSnapshot>): Promise<void>;
}

export async function buildFleet(organisation: OrganisationName, around: Surroundings): Promise<Member[]> {
  return organisation === LONER ? [await buildLoner(organisation, around)] : buildTrio(organisation, around);
}

async function buildTrio(organisation: OrganisationName, around: Surroundings): Promise<Member[]> {
  const { cluster } = around;
  const pages = async (kind: string) => {
    const random = around.random(organisation, kind);
    const tokens = [
      await issueToken(around.stores, organisation),
      await issueToken(around.stores, organisation),
    ];
    const send: Send = (path) => cluster.sendToAny(path, random.pick(tokens), random);
    return { random, fetchPage: around.reader(organisation, random, send) };
  };
  const [open, tiled, followed] = [
    await pages('open walk'),
    await pages('tiled windows'),
    await pages('client library'),
  ];
  const pollers = [
    new OpenWalkPoller(open.fetchPage),
    new TilingPoller(tiled.fetchPage, tiled.random),
    new FollowerPoller(followed.fetchPage, newTokenText('private')),
  ];
  const copies = await Promise.all(
    [1, 2].map(async (number) => {
      const random = around.random(organisation, 'full copy', String(number));
      const token = await issueToken(around.stores, organisation);
      const send: Send = (path) => cluster.sendToAny(path, token, random);
      return new FullCopyPoller(around.reader(organisation, random, send), (...walk) =>
        around.checkSnapshot(organisation, ...walk),
      );
    }),
  );
  return [...pollers, ...copies].map((poller) => ({
    organisation,
    poller,
    walk: (limit) => poller.walk(limit),
  }));
}

async function buildLoner(organisation: OrganisationName, around: Surroundings): Promise<Member> {
  const { cluster } = around;
  const random = around.random(organisation, 'max(updatedAt)');
  const token = await issueToken(around.stores, organisation);
  const send: Send = (path) => cluster.sendToAny(path, token, random);
  const poller = new GreatestStampPoller(around.reader(organisation, random, send));
  return { organisation, poller, walk: (limit) => poller.walk(limit) };
}

export async function issueToken(stores: Stores, organisation: OrganisationName): Promise<string> {
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
