// Pulls from each network: new sales, decisions months later, pages, and the same again without any change.

import { describe, expect, test } from 'bun:test';
import type { NetworkName } from '@offerbook/feeds/source/source-file.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import {
  awinSale,
  cjCorrection,
  cjRecord,
  idOf,
  impactAction,
  partnerizeConversion,
  rakutenSku,
} from '../../../feeds/test/fixture.ts';
import { DATABASES } from '../support/databases.ts';
import type { Listed } from './fake-network.ts';
import { PullTest, START_MS, total } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

const text = (ms: number) => new Date(ms).toISOString().slice(0, 19);

/** The nth sale, made n hours after the start of the pulls' history; pending, or declined at a time. */
type ListSale = (n: number, atMs: number, declinedAtMs?: number) => Listed[];

const rakutenTime = (ms: number) => {
  const [, day, date] = /^(\w{3}), (.*) GMT$/.exec(new Date(ms).toUTCString()) ?? [];
  const [number, month, year, time] = (date ?? '').split(' ');
  return `${day} ${month} ${number} ${year} ${time} GMT+0000 (UTC)`;
};

interface Case {
  readonly network: NetworkName;
  readonly list: ListSale;
  readonly id: (n: number) => string;
}

const CASES: readonly Case[] = [
  {
    network: 'awin',
    id: (n) => String(900 + n),
    list: (n, atMs, declinedAtMs) => [
      {
        row: awinSale({
          id: 900 + n,
          transactionDate: text(atMs),
          clickDate: text(atMs - 60_000),
          ...(declinedAtMs === undefined
            ? {}
            : {
                commissionStatus: 'declined',
                validationDate: text(declinedAtMs),
                // Awin may decline a sale without its amounts.
                saleAmount: { amount: 0, currency: 'EUR' },
                commissionAmount: { amount: 0, currency: 'EUR' },
                transactionParts: [],
              }),
        }),
        times: { transaction: atMs, ...(declinedAtMs === undefined ? {} : { validation: declinedAtMs }) },
      },
    ],
  },
  {
    network: 'impact',
    id: (n) => `1.${n}`,
    list: (n, atMs, declinedAtMs) => [
      {
        row: impactAction({
          Id: `1.${n}`,
          EventDate: `${text(atMs)}Z`,
          ReferringDate: `${text(atMs - 60_000)}Z`,
          ...(declinedAtMs === undefined ? {} : { State: 'REVERSED', Amount: '0.00', Payout: '0.00' }),
        }),
        times: { changes: declinedAtMs ?? atMs },
      },
    ],
  },
  {
    network: 'partnerize',
    id: (n) => `1l${n}`,
    list: (n, atMs, declinedAtMs) => [
      {
        row: partnerizeConversion(
          {
            conversion_id: `1l${n}`,
            conversion_time: text(atMs).replace('T', ' '),
            last_modified: text(declinedAtMs ?? atMs).replace('T', ' '),
            click: { set_time: text(atMs - 60_000).replace('T', ' ') },
          },
          declinedAtMs === undefined ? {} : { conversion_status: 'rejected' },
        ),
        times: { changes: declinedAtMs ?? atMs },
      },
    ],
  },
  {
    network: 'cj',
    id: (n) => String(1700 + n),
    list: (n, atMs, declinedAtMs) => {
      const common = {
        originalActionId: String(1700 + n),
        eventDate: `${text(atMs)}Z`,
        clickDate: `${text(atMs - 60_000)}Z`,
      };
      const original = cjRecord({ ...common, commissionId: `29${100 + n}`, postingDate: `${text(atMs)}Z` });
      const correction = cjCorrection({
        ...common,
        commissionId: `30${100 + n}`,
        postingDate: `${text(declinedAtMs ?? atMs)}Z`,
      });
      return [
        { row: original, times: { posting: atMs } },
        ...(declinedAtMs === undefined ? [] : [{ row: correction, times: { posting: declinedAtMs } }]),
      ];
    },
  },
  {
    network: 'rakuten',
    id: (n) => `3358:A-${n}`,
    list: (n, atMs, declinedAtMs) => {
      const common = { order_id: `A-${n}`, transaction_date: rakutenTime(atMs) };
      const sku = (end: string, processedAtMs: number, sign: number) => ({
        row: rakutenSku({
          ...common,
          etransaction_id: `E${n}${end}`,
          process_date: rakutenTime(processedAtMs),
          sale_amount: sign * 81,
          commissions: sign * 4.05,
        }),
        times: { process: processedAtMs },
      });
      return [sku('+', atMs, 1), ...(declinedAtMs === undefined ? [] : [sku('-', declinedAtMs, -1)])];
    },
  },
];

describe.each(DATABASES)('on $name', (database) => {
  test.each(CASES)(
    '$network: pulls sales, finds a reversal months later, and changes nothing when it reads the same again',
    async ({ network, list, id }) => {
      await using t = await PullTest.open(network, database);
      const at = (n: number) => START_MS - 10 * DAY_MS + n * 3_600_000;
      for (const n of [1, 2, 3, 4, 5]) t.network.rows.push(...list(n, at(n)));
      const read: string[] = [];
      const first = await t.pull({ onRows: (rows, what) => read.push(`${rows} ${what.split(' ')[0]}`) });
      expect(errorsOf(first)).toEqual(first.map(() => null));
      expect(total(first)).toMatchObject({ added: 5, changed: 0, invalid: 0 });
      // Rows are counted up within a window, page by page.
      expect(read).toContain(`5 ${first[0]?.stream}`);
      const stored = await t.stored();
      const ids = [1, 2, 3, 4, 5].map((n) => idOf(network, 'transaction', id(n)));
      expect([...stored.keys()].sort()).toEqual(ids.toSorted());
      const one = stored.get(ids[0] ?? '');
      expect(one).toMatchObject({ status: 'PENDING', passbackUid: 'c7Qm2ZxT0a', soldAt: text(at(1)) });

      // The next pull reads a day again.
      t.nowMs += 3_600_000;
      expect(total(await t.pull())).toMatchObject({ added: 0, changed: 0, invalid: 0 });
      expect(await t.stored()).toEqual(stored);

      // Rakuten keeps events for 30 days. The others are asked for a reversal after nine months.
      const laterMs = network === 'rakuten' ? 20 * DAY_MS : 270 * DAY_MS;
      t.nowMs += laterMs;
      await t.pull();
      const declinedAtMs = t.nowMs - 3_600_000;
      t.network.rows.splice(
        0,
        t.network.rows.length,
        ...[1, 2, 3, 4, 5].flatMap((n) => list(n, at(n), n === 3 ? declinedAtMs : undefined)),
      );
      t.nowMs += 3_600_000;
      expect(total(await t.pull())).toMatchObject({ added: 0, changed: 1, invalid: 0 });
      const declined = (await t.stored()).get(ids[2] ?? '');
      const before = stored.get(ids[2] ?? '');
      expect(declined).toMatchObject({
        status: 'DECLINED',
        orderValue: before?.orderValue ?? 0,
        cashback: before?.cashback ?? 0,
      });

      const [entry] = await t.stores.imports.list({ limit: 1 });
      expect(entry).toMatchObject({ kind: 'transactions', source: `${network}:77777`, outcome: 'done' });
      expect(entry?.fileName).toMatch(
        /^\w+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d – \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
      );
    },
  );
});

test('CJ: a record that the network locks two days late is found', async () => {
  const [database] = DATABASES;
  if (database === undefined) throw new Error('there is no database to test with');
  await using t = await PullTest.open('cj', database);
  const posting = START_MS - 20 * DAY_MS;
  const dates = { eventDate: `${text(posting)}Z`, clickDate: null, postingDate: `${text(posting)}Z` };
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
