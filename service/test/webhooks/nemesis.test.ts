// A short nemesis with two senders in this process. `npm run test:webhooks` runs a longer one with real processes.

import { describe, expect, test } from 'bun:test';
import { Logger } from '../../src/domain/logger.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { addressRules } from '../../src/webhooks/address-rules.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { openTestStores } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { runNemesis } from './nemesis.ts';

const TIMINGS = { leaseMs: 3_000, renewEveryMs: 150, checkEveryMs: 50 };

for (const database of DATABASES) {
  describe(`the nemesis of webhooks on ${database.name}`, () => {
    const open = openTestStores();

    test('no change is lost, no older version arrives later, and requests never overlap', async () => {
      const url = await database.create();
      let offsetMs = 0;
      const clock = () => Date.now() + offsetMs;
      const stores = await open.stores(url, undefined, clock);
      const errors: string[] = [];

      async function newNode() {
        const own = await open.stores(url, undefined, clock);
        let isCutOff = false;
        /** While a node is cut off from the database, it cannot renew its lease. */
        const senderLease: Stores['senderLease'] = {
          ...own.senderLease,
          renew: (name, holder) =>
            isCutOff ? Promise.reject(new Error('cut off')) : own.senderLease.renew(name, holder),
        };
        const start = () => {
          const sender = new WebhookSender({
            stores: { ...own, senderLease },
            clock,
            logger: new Logger('error', (line) => errors.push(line)),
            post: { rules: addressRules(['127.0.0.1']), timeoutMs: 400 },
            leaseTimings: TIMINGS,
          });
          sender.start();
          return sender;
        };
        let sender = start();
        return {
          async restart() {
            await sender.stop(500);
            sender = start();
          },
          async cutOff() {
            isCutOff = true;
            await Bun.sleep(3_300);
            isCutOff = false;
          },
          stop: () => sender.stop(500),
        };
      }

      const nodes = [await newNode(), await newNode()];
      const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
      const { counts, ...faults } = await runNemesis({
        ...{ stores, seed: 20261118, durationMs: 3_000, pauseMs: 50, hangMs: 350, slowMs: 120 },
        sabotages: {
          'node a restarted': a.restart,
          'node b restarted': b.restart,
          'node a cut off': a.cutOff,
          'node b cut off': b.cutOff,
        },
        hurry: async () => {
          offsetMs += 30_000;
        },
        settleMaxMs: 20_000,
      });
      await Promise.all(nodes.map((node) => node.stop()));
      expect(faults).toEqual({ lost: 0, older: 0, overlaps: 0 });
      expect(counts['requests: good']).toBeGreaterThan(10);
      expect(errors).toEqual([]);
    }, 60_000);
  });
}
