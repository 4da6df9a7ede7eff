// The sandbox's data in real databases, written by real imports, with a clock that the test sets.

import { expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { DAY_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { findSeed, openOrganisation, openTokens } from '../../src/cli/commands/sandbox/organisation.ts';
import { openWorld, type World } from '../../src/cli/commands/sandbox/world.ts';
import { digestToken, isLive } from '../../src/domain/access-token.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES, SQLITE, type TestDatabase } from '../support/databases.ts';
import { retailer, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const START_MS = Date.parse('2026-11-14T12:00:00Z');

class Stage implements AsyncDisposable {
  nowMs = START_MS;
  readonly clock = () => this.nowMs;
  stores!: Stores;

  static async open(database: TestDatabase): Promise<Stage> {
    const stage = new Stage();
    stage.stores = await openStores(await database.create(), CREATE_OPTIONS, stage.clock);
    return stage;
  }

  async catalogueImports(): Promise<number> {
    return (await this.stores.imports.list({ kind: 'catalogue', limit: 100 })).length;
  }

  org(): Promise<Organisation> {
    return openOrganisation(this.stores);
  }

  async openWorld(speed = 1, historyDays = 3): Promise<World> {
    const org = await this.org();
    const logoUrl = (id: string) => `http://localhost/${id}.svg`;
    return openWorld(this.stores, org, { seed: 1, speed, clock: this.clock, logoUrl, historyDays });
  }

  async live(world: World, seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      this.nowMs += SECOND_MS;
      await world.beat();
    }
  }

  async transactions(): Promise<Transaction[]> {
    const all: Transaction[] = [];
    const { id } = await this.org();
    await this.stores.transactions.read(id, async (batch) => {
      for (const { document } of batch) all.push(JSON.parse(document) as Transaction);
    });
    return all;
  }

  async lastStampMs(): Promise<number> {
    const { id: orgId } = await this.org();
    const window = { minMs: 0, maxMs: 0 };
    return (await this.stores.transactions.page({ orgId, window, limit: 1 })).completeThroughMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stores.close();
  }
}

test.each([...DATABASES])(
  'on $name, a sandbox starts with a history, adds sales every few seconds, and fills a pause of a week so that no poller misses anything',
  async (database) => {
    await using stage = await Stage.open(database);
    const world = await stage.openWorld(1, 30);
    const history = await stage.transactions();
    expect(history.length).toBeGreaterThan(3_000);
    expect(history.filter(({ updatedAt }) => timestampMs(updatedAt) > stage.nowMs)).toEqual([]);

    await stage.live(world, 40);
    const lived = await stage.transactions();
    expect(lived.length - history.length).toBeGreaterThan(3);
    expect(lived.length - history.length).toBeLessThan(40);
    const fresh = lived.slice(history.length);
    expect(fresh.filter(({ updatedAt }) => timestampMs(updatedAt) <= START_MS)).toEqual([]);

    const stampMs = await stage.lastStampMs();
    stage.nowMs += 7 * DAY_MS;
    await stage.openWorld(1, 30);
    const later = await stage.transactions();
    const before = new Map(lived.map((row) => [row.id, row]));
    const changed = later.filter((row) => !Bun.deepEquals(row, before.get(row.id)));
    expect(changed.length).toBeGreaterThan(1000);
    expect(changed.length).toBeLessThan(4000);
    expect(changed.filter(({ updatedAt }) => timestampMs(updatedAt) <= stampMs)).toEqual([]);
  },
);

test('restarting a moment later changes neither the catalogue nor the sales', async () => {
  await using stage = await Stage.open(SQLITE);
  await stage.openWorld();
  const [before, revisions] = [await stage.transactions(), await stage.stores.revisions()];
  await stage.openWorld();
  expect(await stage.transactions()).toEqual(before);
  expect(await stage.stores.revisions()).toEqual(revisions);
});

test('a running sandbox replaces ended deals and otherwise leaves the catalogue unchanged', async () => {
  await using stage = await Stage.open(SQLITE);
  const world = await stage.openWorld();
  stage.nowMs = Date.parse('2026-11-14T23:30:00Z');
  await world.beat();
  expect(await stage.catalogueImports()).toBe(1);
  const before = world.retailers;
  stage.nowMs = Date.parse('2026-11-15T00:30:00Z');
  await world.beat();
  expect(await stage.catalogueImports()).toBe(2);
  expect(world.retailers).not.toEqual(before);
});

test('after the clock is set back, nothing changes until it passes the latest data', async () => {
  await using stage = await Stage.open(SQLITE);
  const world = await stage.openWorld();
  const before = await stage.transactions();
  stage.nowMs -= 60 * SECOND_MS;
  await stage.live(world, 60);
  expect(await stage.transactions()).toEqual(before);
  await stage.live(world, 30);
  expect((await stage.transactions()).length).toBeGreaterThan(before.length);
});

test('a sandbox at ten times the speed produces about ten times as many sales', async () => {
  await using stage = await Stage.open(SQLITE);
  const world = await stage.openWorld(10);
  const before = (await stage.transactions()).length;
  await stage.live(world, 30);
  const added = (await stage.transactions()).length - before;
  expect(added).toBeGreaterThan(45);
  expect(added).toBeLessThan(130);
});

test('a sandbox does not change transactions that it has not generated', async () => {
  await using stage = await Stage.open(SQLITE);
  const own = transaction(1, { status: 'PENDING' });
  await importTransactions(stage.stores, await stage.org(), sourceFrom(ndjson([own])), stage.clock, {});
  await stage.openWorld();
  stage.nowMs += 2 * DAY_MS;
  await stage.openWorld();
  expect((await stage.transactions()).find(({ id }) => id === own.id)).toMatchObject(own);
});

test('a database that was not created by a sandbox is rejected, and a sandbox database is recognised by its seed', async () => {
  await using stage = await Stage.open(SQLITE);
  expect(await findSeed(stage.stores)).toBeUndefined();
  await openTokens(stage.stores, await stage.org(), 42, stage.nowMs);
  expect(await findSeed(stage.stores)).toBe(42);

  await using foreign = await Stage.open(SQLITE);
  await importCatalogue(foreign.stores.catalogue, sourceFrom(ndjson([retailer(1)])), {});
  await expect(findSeed(foreign.stores)).rejects.toThrow('contains data that was not created by a sandbox');
});

test('a sandbox keeps its tokens between starts, except that it replaces revoked tokens; it does not change other tokens', async () => {
  await using stage = await Stage.open(SQLITE);
  const org = await stage.org();
  const others = { orgId: org.id, kind: 'public', label: 'mine', digest: 'd', expiresAtMs: null } as const;
  await stage.stores.tokens.add(others);
  const first = await openTokens(stage.stores, org, 1, stage.nowMs);
  stage.nowMs += DAY_MS;
  expect(await openTokens(stage.stores, org, 1, stage.nowMs)).toEqual(first);

  const digest = digestToken(first.private);
  const { tokens } = await stage.stores.tokens.list();
  const leaked = tokens.find((token) => token.digest === digest);
  await stage.stores.tokens.revoke(leaked?.id ?? ('' as Uuid));
  const third = await openTokens(stage.stores, org, 1, stage.nowMs);
  expect(third.public).toBe(first.public);
  expect(third.private).not.toBe(first.private);
  expect(await openTokens(stage.stores, org, 1, stage.nowMs)).toEqual(third);

  const live = (await stage.stores.tokens.list()).tokens.filter((token) => isLive(token, stage.nowMs));
  expect(live.map((token) => [token.label, token.digest])).toEqual([
    ['mine', 'd'],
    ['sandbox', digestToken(third.public)],
    ['sandbox', digestToken(third.private)],
  ]);
});

test('each sandbox database has its own tokens', async () => {
  await using stage = await Stage.open(SQLITE);
  await using other = await Stage.open(SQLITE);
  const tokens = await openTokens(stage.stores, await stage.org(), 1, stage.nowMs);
  const others = await openTokens(other.stores, await other.org(), 1, other.nowMs);
  expect([tokens.public === others.public, tokens.private === others.private]).toEqual([false, false]);
});
