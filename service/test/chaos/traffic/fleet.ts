// The pollers of organisations. One of each documented kind switches between two tokens at random, as during a rotation. Two
// further pollers, with one token each, make full copies of the same window. Every page is requested from a random node. The
// poller that continues from the greatest stamp has a single token, like a client whose author has not read about walks.

import type { Random } from '@offerbook/sandbox/random.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { type Node, sendToAny } from '../cluster/node.ts';
import { issueToken } from '../cluster/seed.ts';
import { compare, readAll } from '../model/comparison.ts';
import { getOrganisation, LONER, type OrganisationName } from '../model/world.ts';
import type { Send } from './page-reader.ts';
import {
  type CheckSnapshot,
  type FetchPage,
  followerPoller,
  fullCopyPoller,
  greatestStampPoller,
  openWalkPoller,
  type Poller,
  tilingPoller,
} from './pollers.ts';

interface Member {
  readonly organisation: OrganisationName;
  readonly poller: Poller;
}

export interface Surroundings {
  readonly stores: Stores;
  readonly nodes: readonly Node[];
  random(...parts: string[]): Random;
  /** Returns a function that fetches pages, and sometimes disturbs the walk between two pages. */
  reader(organisation: OrganisationName, random: Random, send: Send): FetchPage;
  /** Compares a walk with the state at its first page. */
  checkSnapshot?(organisation: OrganisationName, ...walk: Parameters<CheckSnapshot>): Promise<void>;
}

/** The pollers of all organisations. */
export async function buildFleet(
  organisations: readonly OrganisationName[],
  around: Surroundings,
): Promise<Member[]> {
  const members: Member[] = [];
  for (const organisation of organisations)
    for (const poller of await buildPollers(organisation, around)) members.push({ organisation, poller });
  return members;
}

/**
 * Lets every poller make two more walks. Two, because the first can continue an earlier walk of the same token, and is then
 * complete only through an earlier stamp.
 */
export async function catchUp(members: readonly Member[], walk: (member: Member) => Promise<void>) {
  for (let round = 0; round < 2; round++) await Promise.all(members.map(walk));
}

/** Compares every copy with the database. */
export async function findDifferences(members: readonly Member[], stores: Stores) {
  const all: { what: 'lost' | 'extra'; id: Uuid; poller: string }[] = [];
  for (const { organisation, poller } of members) {
    const truth = await readAll(stores, (await getOrganisation(stores, organisation)).id);
    const { lost, extra } = compare(truth, poller.copy);
    const who = `${poller.kind} of ${organisation}`;
    for (const id of lost) all.push({ what: 'lost', id, poller: who });
    for (const id of extra) all.push({ what: 'extra', id, poller: who });
  }
  return all;
}

async function buildPollers(organisation: OrganisationName, around: Surroundings): Promise<Poller[]> {
  const org = await getOrganisation(around.stores, organisation);
  const read = async (kind: string, tokenCount: number) => {
    const random = around.random(organisation, kind);
    const tokens = await Promise.all(
      Array.from({ length: tokenCount }, () => issueToken(around.stores, org)),
    );
    const send: Send = (path) => sendToAny(around.nodes, path, random.pick(tokens), random);
    return { random, pages: around.reader(organisation, random, send) };
  };
  if (organisation === LONER) return [greatestStampPoller((await read('max(updatedAt)', 1)).pages)];
  const tiled = await read('tiled windows', 2);
  const check: CheckSnapshot = async (...walk) => around.checkSnapshot?.(organisation, ...walk);
  return [
    openWalkPoller((await read('open walk', 2)).pages),
    tilingPoller(tiled.pages, tiled.random),
    followerPoller((await read('client library', 2)).pages),
    fullCopyPoller((await read('full copy 1', 1)).pages, check),
    fullCopyPoller((await read('full copy 2', 1)).pages, check),
  ];
}
