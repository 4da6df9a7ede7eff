// Webhooks in the database: copies, restores, deletions and erasures.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../src/domain/webhook.ts';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import { restoreBackup } from '../../src/storage/backup/restore-backup.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { webhookSecret } from '../../src/webhooks/signature.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import {
  newIds,
  newOrganisation,
  openTestStores,
  TEST_AUDITOR,
  writeTransactions,
} from './open-test-stores.ts';

const URL = 'https://partner.example/hook';

const delivered = (
  stores: Stores,
  webhook: Awaited<ReturnType<Stores['webhooks']['create']>>,
  toMs: number,
) =>
  stores.webhooks.save([
    {
      ...webhook,
      toMs,
      ...{ failures: 0, failingSinceMs: null, retryAtMs: null, attemptedAtMs: 7, deliveredAtMs: 7 },
      ...{ lastResult: '200', pauses: false },
    },
  ]);

for (const database of DATABASES) {
  describe(`webhooks on ${database.name}`, () => {
    const open = openTestStores();

    test('a result is stored only if neither the watermark nor the revision has changed', async () => {
      const stores = await open.stores(await database.create());
      const { id: orgId } = await newOrganisation(stores);
      const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
      await delivered(stores, webhook, 100);
      await delivered(stores, webhook, 50);
      expect((await stores.webhooks.find(webhook.id))?.watermarkMs).toBe(100);
      const replayed = await stores.webhooks.replay(webhook.id, 10);
      await delivered(stores, { ...webhook, watermarkMs: 10 }, 90);
      expect(await stores.webhooks.find(webhook.id)).toEqual(replayed);
      expect((await stores.webhooks.replay(webhook.id, 20))?.watermarkMs).toBe(10);
    });

    test('a rotation during an overlap keeps all secrets until the later end, unless it has no overlap', async () => {
      let nowMs = 1_000;
      const stores = await open.stores(await database.create(), undefined, () => nowMs);
      const { id: orgId } = await newOrganisation(stores);
      const { id } = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
      const rotate = async (untilMs: number) => {
        const { generation, oldestGeneration, overlapEndsAtMs } =
          (await stores.webhooks.rotate(id, untilMs)) ?? {};
        return [generation, oldestGeneration, overlapEndsAtMs];
      };
      expect(await rotate(2_000)).toEqual([2, 1, 2_000]);
      expect(await rotate(2_500)).toEqual([3, 1, 2_500]);
      expect(await rotate(1_500)).toEqual([4, 1, 2_500]);
      nowMs = 2_500;
      expect(await rotate(3_000)).toEqual([5, 4, 3_000]);
      expect(await rotate(2_500)).toEqual([6, 4, 2_500]);
      expect(await rotate(2_600)).toEqual([7, 6, 2_600]);
    });

    test('a copy has the same webhooks, watermarks and secrets', async () => {
      const url = await database.create();
      const stores = await open.stores(url);
      const { id: orgId } = await newOrganisation(stores);
      const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
      await delivered(stores, webhook, 100);
      for (const target of DATABASES) {
        const to = await target.createEmpty();
        await copyDatabase(url, to, TEST_AUDITOR);
        const copy = await open.stores(to);
        expect(await copy.webhooks.list()).toEqual(await stores.webhooks.list());
        expect(await copy.clickKey()).toBe(await stores.clickKey());
        expect((await copy.revisions()).webhooks).toBe(1);
      }
    });

    test('deleting an organisation deletes its webhooks, and erasing a user changes none', async () => {
      const stores = await open.stores(await database.create());
      const org = await newOrganisation(stores);
      const kept = await newOrganisation(stores, 'kept');
      await stores.webhooks.create(org.id, URL, NO_WATERMARK_MS);
      const other = await stores.webhooks.create(kept.id, URL, NO_WATERMARK_MS);
      await stores.organisations.delete('acme', { reloadMs: 0 });
      const before = await stores.webhooks.list();
      expect(before.map(({ id }) => id)).toEqual([other.id]);
      await stores.erasures.erase(kept, 'somebody');
      expect(await stores.webhooks.list()).toEqual(before);
    });
  });
}

describe('webhooks after a restore', () => {
  const open = openTestStores();

  test('all transactions are undelivered again, and deletions, pauses and rotations since the backup are kept', async () => {
    const folder = temporaryFolder();
    const url = `sqlite:${join(folder, 'test.db')}`;
    const stores = await open.stores(url);
    const { id: orgId } = await newOrganisation(stores);
    const create = () => stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
    const [plain, deleted, paused, rotated] = [
      await create(),
      await create(),
      await create(),
      await create(),
    ];
    const first = await writeTransactions(stores, orgId, newIds(3));
    for (const webhook of [plain, deleted, paused, rotated]) await delivered(stores, webhook, first);
    const backup = join(folder, 'backup');
    const [spoolPath, isOurs] = [() => join(folder, 'no-spool'), () => true];
    await makeBackup({ url, target: backup, spoolPath, isOurs, clock: Date.now, version: '1' });

    const later = await writeTransactions(stores, orgId, newIds(1));
    await delivered(stores, { ...plain, watermarkMs: first }, later);
    await stores.webhooks.delete(deleted.id);
    await stores.webhooks.pause(paused.id);
    await stores.webhooks.rotate(rotated.id, 5);
    const key = await stores.clickKey();
    await stores.close();
    await restoreBackup({ url, source: backup, replaces: true, keepsStamps: false, auditor: TEST_AUDITOR });

    const restored = await open.stores(url);
    const all = new Map((await restored.webhooks.list()).map((webhook) => [webhook.id, webhook]));
    expect(all.get(plain.id)).toMatchObject({ watermarkMs: first, pausedAtMs: null, generation: 1 });
    expect(all.get(plain.id)?.behindSinceMs).toBeGreaterThan(later);
    expect(all.get(deleted.id)).toMatchObject({ pausedBy: 'restore' });
    expect(all.get(paused.id)).toMatchObject({ pausedBy: 'restore' });
    expect(all.get(rotated.id)).toMatchObject({ generation: 2, oldestGeneration: 1, overlapEndsAtMs: 5 });
    expect(await restored.clickKey()).toBe(key);
    expect(webhookSecret(key, plain.id, 1)).not.toBe(webhookSecret(key, plain.id, 2));
  });
});
