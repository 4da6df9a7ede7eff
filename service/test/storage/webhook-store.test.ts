// Webhooks in the database: copies, restores, deletions and erasures.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { completeThrough, NO_WATERMARK_MS } from '../../src/domain/webhook.ts';
import { restoreBackup } from '../../src/storage/backup/restore-backup.ts';
import { webhookSecret } from '../../src/webhooks/signature.ts';
import { DATABASES, SQLITE, temporaryFolder } from '../support/databases.ts';
import {
  backUp,
  newIds,
  newOrganisation,
  openTestStores,
  rowsOf,
  TEST_AUDITOR,
  writeTransactions,
} from './open-test-stores.ts';

const open = openTestStores();

const URL = 'https://partner.example/hook';

const delivered = (
  stores: Stores,
  webhook: Awaited<ReturnType<Stores['webhooks']['create']>>,
  positionMs: number,
  positionId = LAST_ID,
) =>
  stores.webhooks.save([
    {
      ...webhook,
      ...{ positionMs, positionId },
      ...{ failures: 0, failingSinceMs: null, retryAtMs: null, attemptedAtMs: 7, deliveredAtMs: 7 },
      ...{ lastResult: '200', pauses: false },
    },
  ]);

describe.each(DATABASES)('webhooks on $name', (database) => {
  test('a result is stored unless it moves the position back or the revision has changed', async () => {
    const { stores, orgId } = await open.scene(database);
    const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
    const [first, second] = newIds(2) as [Uuid, Uuid];
    const position = async () => {
      const { positionMs, positionId } = (await stores.webhooks.find(webhook.id)) ?? webhook;
      return [positionMs, positionId, completeThrough({ positionMs, positionId })];
    };
    expect(await position()).toEqual([NO_WATERMARK_MS, LAST_ID, null]);
    await delivered(stores, webhook, 100, second);
    await delivered(stores, webhook, 100, first);
    await delivered(stores, webhook, 99);
    expect(await position()).toEqual([100, second, 99]);
    await delivered(stores, webhook, 100);
    expect(await position()).toEqual([100, LAST_ID, 100]);
    const replayed = await stores.webhooks.replay(webhook.id, 10);
    await delivered(stores, webhook, 90);
    expect(await stores.webhooks.find(webhook.id)).toEqual(replayed);
    expect(await position()).toEqual([10, LAST_ID, 10]);
    const failure = { failures: 1, failingSinceMs: 5, attemptedAtMs: 5, retryAtMs: 500, lastResult: '500' };
    await stores.webhooks.save([{ ...(replayed ?? webhook), ...failure, pauses: false }]);
    expect(await stores.webhooks.find(webhook.id)).toMatchObject(failure);
    const again = await stores.webhooks.replay(webhook.id, 20);
    expect(again).toMatchObject({ failures: 0, retryAtMs: null });
    expect(await position()).toEqual([10, LAST_ID, 10]);
  });

  test('an endpoint is behind until its position is at the end of the last stamp', async () => {
    const { stores, orgId } = await open.scene(database);
    const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
    const behind = async () => (await stores.webhooks.behind()).length;
    const [first, second] = newIds(2) as [Uuid, Uuid];
    const stamp = await writeTransactions(stores, orgId, [first, second]);
    expect(await behind()).toBe(1);
    await delivered(stores, webhook, stamp, first);
    expect([await behind(), (await stores.webhooks.list())[0]?.behindSinceMs]).toEqual([1, stamp]);
    await delivered(stores, webhook, stamp);
    expect([await behind(), (await stores.webhooks.list())[0]?.behindSinceMs]).toEqual([0, null]);
  });

  test('changes are read in the order of stamps and ids, from any position', async () => {
    const { stores, orgId } = await open.scene(database);
    const other = await newOrganisation(stores, 'other');
    // SQLite compares bytes, PostgreSQL values of type uuid, and programs strings.
    const starts = '00000000-7fff 00000000-8000 09ffffff-0000 0a000000-0000 7fffffff-ffff 80000000-0000';
    const ids = starts.split(' ').map((start) => `${start}-4000-8000-000000000000` as Uuid);
    const at = (...indexes: number[]) => indexes.map((index) => ids[index] as Uuid);
    const pair = (stamp: number, id: Uuid): [number, Uuid] => [stamp, id];
    const early = await writeTransactions(stores, orgId, at(4, 1, 3));
    await writeTransactions(stores, other.id, newIds(2));
    const late = await writeTransactions(stores, orgId, at(5, 0, 2));
    const order = [...at(1, 3, 4).map((id) => pair(early, id)), ...at(0, 2, 5).map((id) => pair(late, id))];
    const read = async (stampMs: number, id: Uuid, limit: number) => {
      const query = { orgId, after: { stampMs, id }, limit, bytesMax: 1_000_000 };
      const { data, position, isLast } = await stores.transactions.changes(query);
      return [rowsOf({ data }).map((row) => row.id), [position.stampMs, position.id], isLast];
    };
    for (const limit of [1, 2, 3, 6])
      for (let from = 0; from <= 6; from++) {
        const [stamp, id] = order[from - 1] ?? pair(NO_WATERMARK_MS, LAST_ID);
        const [last, next] = [order[from + limit - 1], order[from + limit]];
        const isInside = last !== undefined && next?.[0] === last[0];
        const end = isInside ? last : pair(next === undefined ? late : late - 1, LAST_ID);
        expect(await read(stamp, id, limit)).toEqual([
          order.slice(from, from + limit).map(([, each]) => each),
          end,
          next === undefined,
        ]);
      }
  });

  test('resuming ends the wait for the next attempt', async () => {
    const { stores, orgId } = await open.scene(database);
    const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
    const failed = { failures: 3, failingSinceMs: 5, attemptedAtMs: 7, retryAtMs: 9, lastResult: '410' };
    await stores.webhooks.save([{ ...webhook, ...failed, pauses: true }]);
    expect(await stores.webhooks.find(webhook.id)).toMatchObject({ ...failed, pausedBy: 'endpoint' });
    expect(await stores.webhooks.resume(webhook.id)).toMatchObject({
      ...{ failures: 0, retryAtMs: null, pausedAtMs: null, pausedBy: null, lastResult: '410' },
    });
  });

  test('a rotation during an overlap keeps all secrets until the later end, unless it has no overlap', async () => {
    const { stores, orgId, pass } = await open.scene(database, 1_000);
    const { id } = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
    const rotate = async (untilMs: number) => {
      const { generation, oldestGeneration, overlapEndsAtMs } =
        (await stores.webhooks.rotate(id, untilMs)) ?? {};
      return [generation, oldestGeneration, overlapEndsAtMs];
    };
    expect(await rotate(2_000)).toEqual([2, 1, 2_000]);
    expect(await rotate(2_500)).toEqual([3, 1, 2_500]);
    expect(await rotate(1_500)).toEqual([4, 1, 2_500]);
    pass(1_500);
    expect(await rotate(3_000)).toEqual([5, 4, 3_000]);
    expect(await rotate(2_500)).toEqual([6, 4, 2_500]);
    expect(await rotate(2_600)).toEqual([7, 6, 2_600]);
  });
});

describe('webhooks after a restore', () => {
  test('all transactions are undelivered again, and webhooks wait for the operator if they may have changed since the backup', async () => {
    const { url, stores, orgId } = await open.scene(SQLITE);
    const names = ['plain', 'deleted', 'paused', 'rotated', 'resumed', 'still paused'] as const;
    const ids = new Map<string, Uuid>();
    const idOf = (name: (typeof names)[number]) => ids.get(name) as Uuid;
    const first = await writeTransactions(stores, orgId, newIds(3));
    for (const name of names) {
      const webhook = await stores.webhooks.create(orgId, URL, NO_WATERMARK_MS);
      ids.set(name, webhook.id);
      await delivered(stores, webhook, first);
    }
    for (const name of ['resumed', 'still paused'] as const) await stores.webhooks.pause(idOf(name));
    const backup = await backUp(url);

    const later = await writeTransactions(stores, orgId, newIds(1));
    await stores.webhooks.delete(idOf('deleted'));
    await stores.webhooks.pause(idOf('paused'));
    await stores.webhooks.rotate(idOf('rotated'), 5);
    await stores.webhooks.resume(idOf('resumed'));
    const key = await stores.clickKey();
    await stores.close();

    async function restore(to: string) {
      const options = { url: to, source: backup, keepsStamps: false, auditor: TEST_AUDITOR };
      const { webhooksPaused } = await restoreBackup({ ...options, replaces: true });
      const restored = await open.stores(to);
      expect(await restored.clickKey()).toBe(key);
      const list = await restored.webhooks.list();
      const found = (name: (typeof names)[number]) => list.find(({ id }) => id === idOf(name));
      return { webhooksPaused, found, pausedBy: names.map((name) => found(name)?.pausedBy ?? null) };
    }

    const { webhooksPaused, found, pausedBy } = await restore(url);
    expect(pausedBy).toEqual([null, 'restore', 'restore', 'restore', 'restore', 'operator']);
    expect(webhooksPaused).toBe(4);
    expect(found('plain')).toMatchObject({ positionMs: first, pausedAtMs: null, generation: 1 });
    expect(found('plain')?.behindSinceMs).toBeGreaterThan(later);
    // An operator who confirms the webhook does not confirm the old secret.
    expect(found('rotated')).toMatchObject({ generation: 2, oldestGeneration: 1, overlapEndsAtMs: 5 });
    expect(webhookSecret(key, idOf('plain'), 1)).not.toBe(webhookSecret(key, idOf('plain'), 2));

    // Without the replaced database, nothing is known about later changes.
    const elsewhere = await restore(`sqlite:${join(temporaryFolder(), 'elsewhere.db')}`);
    expect(elsewhere.pausedBy).toEqual([...Array(4).fill('restore'), 'operator', 'operator']);
    expect(elsewhere.webhooksPaused).toBe(4);
  });
});
