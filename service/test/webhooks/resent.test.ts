// Transactions that are sent again with new stamps: those of an erased user, and all of them after a restore.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Transaction, UnstampedTransaction } from '@offerbook/wire/transaction.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Logger } from '../../src/domain/logger.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../src/domain/webhook.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { beginTimeline } from '../../src/storage/backup/new-timeline.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { addressRules } from '../../src/webhooks/address-rules.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import {
  newOrganisation,
  openTestStores,
  readAllTransactions,
  TEST_AUDITOR,
} from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { id, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import { Receiver } from './receiver.ts';

const UID = 'anna müller';

for (const database of DATABASES) {
  describe(`webhooks on ${database.name}`, () => {
    const open = openTestStores();

    async function scene(receiver: Receiver) {
      const url = await database.createEmpty();
      const stores = await open.stores(url);
      const org = await newOrganisation(stores);
      await stores.webhooks.create(org.id, receiver.url, NO_WATERMARK_MS);
      return { url, stores, org };
    }

    function load(stores: Stores, org: Organisation, rows: readonly UnstampedTransaction[]) {
      return importTransactions(stores.transactions, org, sourceFrom(ndjson(rows)), systemClock, {});
    }

    /** Sends until the endpoint has received everything. */
    async function deliver(stores: Stores): Promise<void> {
      const errors: string[] = [];
      const logger = new Logger('error', (line) => errors.push(line));
      const post = { rules: addressRules(['127.0.0.1']) };
      const sender = new WebhookSender({ stores, clock: systemClock, logger, post });
      sender.start();
      await until(
        () => stores.webhooks.list(),
        (all) => all.every(({ behindSinceMs }) => behindSinceMs === null),
      );
      await sender.stop(1_000);
      expect(errors).toEqual([]);
    }

    async function stored(stores: Stores, org: Organisation): Promise<Transaction[]> {
      const all = await readAllTransactions(stores, org.id);
      return all.map(({ document }) => JSON.parse(document) as Transaction);
    }

    test("an erased user's transactions are sent again without the user", async () => {
      await using receiver = new Receiver();
      const { stores, org } = await scene(receiver);
      const ofUser = { passbackUid: UID, passbackData: `campaign for ${UID}` };
      await load(stores, org, [transaction(1, ofUser), transaction(2, ofUser), transaction(3)]);
      await deliver(stores);
      const before = await stored(stores, org);
      expect([...receiver.copy.values()]).toEqual(before);

      await stores.erasures.erase(org, UID);
      await deliver(stores);
      const after = await stored(stores, org);
      expect([...receiver.copy.values()]).toEqual(after);
      const [, ...resent] = receiver.deliveries.flatMap(({ page }) => [page.transactions]);
      expect(resent).toEqual([after.slice(0, 2)]);
      const none = { passbackUid: null, passbackData: null, updatedAt: after[0]?.updatedAt };
      expect(after).toEqual(before.map((row, i) => (i < 2 ? { ...row, ...none } : row)) as Transaction[]);
      expect((after[0]?.updatedAt ?? '') > (before[0]?.updatedAt ?? '')).toBe(true);
    });

    test('after a restore, everything is sent again with newer stamps than any that the endpoint has received', async () => {
      await using receiver = new Receiver();
      const { url, stores, org } = await scene(receiver);
      await load(stores, org, [transaction(1), transaction(2)]);
      await deliver(stores);
      const backup = await database.createEmpty();
      await copyDatabase(url, backup, TEST_AUDITOR);

      // Changes after the backup, which the endpoint receives and the restore loses.
      await load(stores, org, [transaction(1, { status: 'DECLINED' }), transaction(3)]);
      await deliver(stores);
      const [lost] = await stored(stores, org);
      expect(receiver.copy.get(id(1))).toEqual(lost as Transaction);

      await beginTimeline(open.database(backup), TEST_AUDITOR, { keepsStamps: false, madeAt: null });
      const restored = await open.stores(backup);
      for (const { id } of await restored.webhooks.list()) await restored.webhooks.resume(id);
      await deliver(restored);
      const rows = await stored(restored, org);
      expect(rows.map(({ id }) => receiver.copy.get(id))).toEqual(rows);
      expect(rows.map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
      for (const { updatedAt } of rows) expect(updatedAt > (lost?.updatedAt ?? '')).toBe(true);

      await load(restored, org, [transaction(3)]);
      await deliver(restored);
      expect([...receiver.copy.values()]).toEqual(await stored(restored, org));
    });
  });
}
