// Old sales are read again, one window at a time. The network's filters should have listed every change before.

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { awinSale, cjCorrection, cjRecord, idOf } from '../../../feeds/test/fixture.ts';
import { DATABASE, PullTest, START_MS } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

const SOLD_AT = '2026-10-25T00:00:00';
const soldAtMs = Date.parse(`${SOLD_AT}Z`);
const sale = (changes = {}) => awinSale({ id: 1, transactionDate: SOLD_AT, ...changes });

/** Pulls once an hour, until all old sales have been read again. */
async function rereadAll(t: PullTest): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    t.nowMs += HOUR_MS;
    const reports = await t.pull();
    expect(errorsOf(reports)).toEqual(reports.map(() => null));
  }
}

const PASSES = 32;
const CORRECTED =
  'reread: 1 sale had changed, but the network did not list the change; the stored sales have been corrected';

test('CJ: finds a correction that neither filter listed, and combines it with the stored record', async () => {
  await using t = await PullTest.open('cj', DATABASE);
  t.network.rows.push({ row: cjRecord(), times: { posting: soldAtMs, event: soldAtMs } });
  await t.pull();
  t.network.rows.push({ row: cjCorrection(), times: { event: soldAtMs } });
  await rereadAll(t);
  expect(t.notes).toEqual([`cj:77777, ${CORRECTED}`]);
  expect((await t.stored()).get(idOf('cj', 'transaction', '1700000077'))?.status).toBe('DECLINED');
});

test('does not warn of a change that is too new to be listed', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push({ row: sale(), times: { transaction: soldAtMs } });
  await t.pull();
  for (let pass = 0; pass < PASSES; pass++) {
    t.nowMs += HOUR_MS;
    // The sale changes a minute before every pass.
    const validation = t.nowMs - 60_000;
    const validationDate = new Date(validation).toISOString().slice(0, 19);
    const row = sale({ commissionStatus: pass % 2 === 0 ? 'approved' : 'declined', validationDate });
    t.network.rows.splice(0, 1, { row, times: { transaction: soldAtMs, validation } });
    await t.pull();
    t.nowMs += 900_000;
    await t.pull();
  }
  expect(t.notes).toEqual([]);
});

test('if the network lists every change, nothing differs, and every window of 13 months is read again', async () => {
  await using t = await PullTest.open('cj', DATABASE);
  t.network.rows.push({ row: cjRecord(), times: { posting: soldAtMs, event: soldAtMs } });
  const stamps = async () => [...(await t.stored()).values()].map(({ updatedAt }) => updatedAt);
  await t.pull();
  const before = await stamps();
  for (let pass = 0; pass < 16; pass++) {
    t.nowMs += HOUR_MS;
    await t.pull();
  }
  const windows = t.network.requests.flatMap(
    ({ body }) => /sinceEventDate: \\"([^"\\]+)/.exec(body)?.[1] ?? [],
  );
  expect(windows.length).toBe(17);
  expect(Math.abs(Date.parse(windows[0] ?? '') - (START_MS - 396 * DAY_MS))).toBeLessThan(60_000);
  expect(t.notes).toEqual([]);
  expect(await stamps()).toEqual(before);
});

const OLD_MS = START_MS - 390 * DAY_MS;
const OLD_AT = new Date(OLD_MS).toISOString().slice(0, 19);
const oldSale = (changes = {}) => awinSale({ id: 1, transactionDate: OLD_AT, clickDate: OLD_AT, ...changes });

/** Pulls a sale of the oldest window, which the next pull reads again. */
async function openOld(): Promise<PullTest> {
  const t = await PullTest.open('awin', DATABASE);
  t.network.rows.push({ row: oldSale(), times: { transaction: OLD_MS } });
  await t.pull({ sinceMs: OLD_MS - DAY_MS });
  t.nowMs += HOUR_MS;
  return t;
}

test('does not warn before every stream has read past the time at which the difference was found', async () => {
  await using t = await openOld();
  const row = oldSale({ commissionStatus: 'approved' });
  // The network lists the change a minute before the next pull, which is too late for that pull and the one after it.
  const listed = { row, times: { transaction: t.nowMs - 60_000 } };
  t.network.rows.splice(0, 1, { row, times: { transaction: OLD_MS } }, listed);
  await t.pull();
  t.nowMs += 300_000;
  // The first stream takes an hour, so that only the others read past the time of the difference.
  t.network.planned.push(() => {
    t.nowMs += HOUR_MS;
    return undefined;
  });
  await t.pull();
  t.nowMs += 7_200_000;
  await t.pull();
  expect(t.notes).toEqual([]);
  expect((await t.stored()).get(idOf('awin', 'transaction', '1'))?.status).toBe('CONFIRMED');
});

test('an old sale that has become invalid does not keep later sales from being read again', async () => {
  await using t = await openOld();
  const row = oldSale({ saleAmount: { amount: 'x', currency: 'EUR' } });
  t.network.rows.splice(0, 1, { row, times: { transaction: OLD_MS } });
  await t.pull();
  const key = { source: 'awin:77777', orgId: t.org.id, stream: 'reread' };
  const state = await t.stores.pulls.find(key);
  expect(state?.error).toContain('saleAmount.amount is "x"');
  expect(state?.completeThroughMs).toBeGreaterThan(OLD_MS);
});
