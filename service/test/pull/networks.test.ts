// Pulls end with the true sales of each network: new sales, decisions months later, and changes that no filter of the network
// lists. `npm run test:chaos -- pull` does the same with more sales, and kills the pulls.

import { describe, expect, test } from 'bun:test';
import { NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { cjRecord } from '../../../feeds/test/fixture.ts';
import { newOrganisation } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { DATABASE, PullTest, START_MS, total } from './fixture.ts';
import { compareWithTruth, DECIDED_MS } from './network-pull.ts';
import { errorsOf } from './pull-rig.ts';
import { Shops } from './shops.ts';

/** Number for all networks together. */
const SALES_PER_DAY = 10;
/** Rakuten deletes rows after 14 days. */
const STEPS = Array<number>(12).fill(10);

describe.each(DATABASES)('on $name', (database) => {
  test.each(NETWORKS)(
    '%s: pulls end with the true sales, decisions months later included, and the same again changes nothing',
    async (network) => {
      let frozenMs = Number.POSITIVE_INFINITY;
      const density = { salesPerDay: SALES_PER_DAY, cellMs: DAY_MS };
      const clock = () => Math.min(shops.nowMs, frozenMs);
      const shops = await Shops.open(database, { density, sinceMs: START_MS - 10 * DAY_MS, clock });
      await using _ = shops;
      shops.nowMs = START_MS;
      const org = await newOrganisation(shops.stores);
      const pull = async () => {
        const startMs = START_MS - 10 * DAY_MS;
        const reports = await shops.pull(network, { only: 'transactions', org, startMs });
        expect(errorsOf(reports)).toEqual(reports.map(() => null));
        return total(reports);
      };
      const compare = () =>
        compareWithTruth(
          shops.stores,
          org,
          network,
          trueSales(shops.networks.fakes.ledger, network, frozenMs),
        );
      for (const days of STEPS) {
        await pull();
        shops.nowMs += days * DAY_MS;
      }
      frozenMs = shops.nowMs;
      shops.nowMs += DECIDED_MS + DAY_MS;
      await pull();
      const found = await compare();
      expect(found).toMatchObject({ lost: 0, extra: 0, wrong: 0, needless: 0, examples: [] });
      expect(found.sales).toBeGreaterThan(50);
      // Sales were pending when they were found.
      expect(found.versions - found.sales).toBeGreaterThan(10);
      expect(await pull()).toMatchObject({ added: 0, changed: 0, invalid: 0 });
      expect(await compare()).toEqual(found);
    },
  );
});

test('CJ: a record that the network locks two days late is found', async () => {
  await using t = await PullTest.open('cj', DATABASE);
  const posting = START_MS - 20 * DAY_MS;
  const at = new Date(posting).toISOString();
  const dates = { eventDate: at, clickDate: null, postingDate: at };
  const locking = START_MS - 2 * DAY_MS;
  t.network.rows.push({ row: cjRecord({ ...dates, actionStatus: 'new' }), times: { posting } });
  await t.pull();
  t.nowMs += 3_600_000;
  t.network.rows.splice(0, 1, {
    row: cjRecord({ ...dates, actionStatus: 'locked' }),
    times: { posting, locking },
  });
  expect(total(await t.pull())).toMatchObject({ added: 0, changed: 1 });
  expect([...(await t.stored()).values()].map(({ status }) => status)).toEqual(['CONFIRMED']);
});
