// The thread that builds snapshots of the catalogue: its results and its failures.

import { afterEach, describe, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { buildSnapshotData } from '../../src/catalogue/build/build-snapshot.ts';
import { openSnapshotBuilder, type SnapshotBuilder } from '../../src/cli/node/snapshot-builder.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { coupon, offer, promotion, retailer } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';

let builder: SnapshotBuilder;

afterEach(() => builder.close());

test.each(DATABASES)(
  'on $name, the builder thread returns the same snapshot as a build in this thread, and the next snapshot contains later imports',
  async ({ create }) => {
    const databaseUrl = await create();
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    builder = openSnapshotBuilder(databaseUrl);
    const deals = { cashbackOffers: [offer(11)], coupons: [coupon(21)], promotions: [promotion(31)] };
    for (const rows of [[retailer(1, deals)], [retailer(1), retailer(2)]]) {
      await importCatalogue(stores.catalogue, sourceFrom(ndjson(rows)), { allowWithdrawals: true });
      expect(await builder.build()).toEqual(
        await buildSnapshotData((onBatch) => stores.catalogue.read(onBatch)),
      );
    }
    await stores.close();
  },
);

describe('a failed build keeps the kind of its error, and the next build retries', () => {
  const folder = temporaryFolder();
  const unreadable = join(folder, 'text.db');
  writeFileSync(unreadable, 'This is no database. '.repeat(1_000));

  test.each([
    ['with a folder', async () => `sqlite:${folder}`, 'denied', 'it is a folder, not a file'],
    [
      'with a file that is not a database',
      async () => `sqlite:${unreadable}`,
      'invalid',
      'is not an Offerbook database',
    ],
    [
      'with an unreachable server',
      async () => `postgres://nobody@127.0.0.1:${await freePort()}/none`,
      'unavailable',
      '',
    ],
  ])('%s', async (_, databaseUrl, kind, words) => {
    builder = openSnapshotBuilder(await databaseUrl());
    for (let time = 0; time < 2; time++) {
      const failure = await builder.build().catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'StorageError', kind });
      expect((failure as Error).message).toContain(words);
    }
  });
});

test.skipIf(process.platform !== 'linux')(
  'after the first snapshot, the builder thread has a lower priority than requests',
  async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'test.db')}`;
    await (await openStores(databaseUrl, CREATE_OPTIONS)).close();
    const threads = () => readdirSync('/proc/self/task').map(Number);
    const before = threads();
    const priority = getPriority();
    const lower = Math.min(priority + 10, 19);
    builder = openSnapshotBuilder(databaseUrl);
    await builder.build();
    const started = threads().filter((thread) => !before.includes(thread));
    // Bun may have started helper threads for it.
    expect(started.some((thread) => getPriority(thread) === lower)).toBe(true);
    expect(getPriority()).toBe(priority);
  },
);

test('close() makes the running build fail, and later builds are rejected', async () => {
  builder = openSnapshotBuilder(`sqlite:${join(temporaryFolder(), 'none.db')}`);
  const building = builder.build();
  const closed = builder.close();
  for (const build of [() => building, () => builder.build()])
    await expect(build()).rejects.toThrow('the node is stopping');
  await closed;
});
