// Rows of networks whose sales have several rows: they are stored with the state of their stream, and erased and purged with their
// sales.

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { cjCorrection, cjRecord, idOf, rakutenSku } from '../../../feeds/test/fixture.ts';
import { forgetSource } from '../../src/pull/forget-source.ts';
import { DATABASES } from '../support/databases.ts';
import { PullTest, START_MS, total } from './fixture.ts';

const SOURCE = 'cj:77777';
const SALE = '1700000077';
const SALE_ID = idOf('cj', 'transaction', SALE);
const soldAtMs = START_MS - 3 * DAY_MS;
const original = {
  row: cjRecord({ eventDate: '2026-11-17T00:00:00Z', postingDate: '2026-11-17T00:00:00Z' }),
  times: { posting: soldAtMs },
};
const correction = (atMs: number) => ({
  row: cjCorrection({ eventDate: '2026-11-17T00:00:00Z', postingDate: new Date(atMs).toISOString() }),
  times: { posting: atMs },
});

const stored = ({ stores }: PullTest) => stores.pulls.rowsOf(SOURCE, [SALE]);

describe.each(DATABASES)('on $name', (database) => {
  async function pulled() {
    const t = await PullTest.open('cj', database);
    t.network.rows.push(original);
    expect(total(await t.pull())).toMatchObject({ added: 1, invalid: 0 });
    return t;
  }

  test('a row is stored without its sub-id, which has its own column', async () => {
    await using t = await pulled();
    const [row, ...others] = await stored(t);
    expect(others).toEqual([]);
    const { document, ...rest } = row ?? { document: '{}' };
    expect(rest).toEqual({
      saleId: SALE,
      partId: '2900000001',
      orgId: t.org.id,
      subId: 'c7Qm2ZxT0a',
      dueAtMs: null,
    });
    expect(JSON.parse(document)).not.toHaveProperty('shopperId');
  });

  test('a forgotten source keeps its rows, so that a correction still changes its sale if the source is pulled again', async () => {
    await using t = await pulled();
    await forgetSource(SOURCE, { by: 'test@host', version: '0' }, t.stores, () => t.nowMs);
    expect([await t.stores.pulls.list(), (await stored(t)).length]).toEqual([[], 1]);
    t.nowMs += 30 * DAY_MS;
    t.network.rows.push(correction(t.nowMs - 3_600_000));
    // Too late to read the original row again.
    const startMs = t.nowMs - DAY_MS;
    expect(total(await t.pull({ startMs }))).toMatchObject({ added: 0, changed: 1, invalid: 0 });
    expect((await t.stored()).get(SALE_ID)).toMatchObject({ status: 'DECLINED' });
  });

  test('a purge deletes pulled rows that the network has not listed for 400 days, whatever its --older-than', async () => {
    await using t = await pulled();
    t.nowMs += 399 * DAY_MS;
    await t.stores.history.purge(t.nowMs - DAY_MS);
    expect(await stored(t)).toHaveLength(1);
    t.nowMs += 2 * DAY_MS;
    await t.stores.history.purge(t.nowMs - DAY_MS);
    expect(await stored(t)).toEqual([]);
  });

  test('a correction whose original was never read is left out, and does not hold up the stream', async () => {
    await using t = await PullTest.open('cj', database);
    t.network.rows.push(correction(soldAtMs));
    expect(total(await t.pull())).toEqual({ added: 0, changed: 0, unchanged: 0, invalid: 0 });
    expect(t.notes.at(0)).toContain('Left out: corrections of sales before the first pull (1 row).');
    t.network.rows.push(original);
    expect(total(await t.pull({ sinceMs: START_MS - 10 * DAY_MS }))).toMatchObject({ added: 1 });
    expect((await t.stored()).get(SALE_ID)).toMatchObject({ status: 'DECLINED' });
  });

  test('Rakuten: a sale is confirmed by its age, although the network sends nothing', async () => {
    await using t = await PullTest.open('rakuten', database);
    const times = {
      transaction_date: 'Tue Nov 17 2026 00:00:00 GMT+0000 (UTC)',
      process_date: 'Tue Nov 17 2026 00:00:00 GMT+0000 (UTC)',
    };
    t.network.rows.push({ row: rakutenSku(times), times: { process: soldAtMs } });
    const rule = { confirmAfterDays: 60 };
    await t.pull({}, rule);
    for (const days of [28, 28]) {
      t.nowMs += days * DAY_MS;
      await t.pull({}, rule);
    }
    const statuses = async () => [...(await t.stored()).values()].map(({ status }) => status);
    expect(await statuses()).toEqual(['PENDING']);
    t.nowMs += 2 * DAY_MS;
    await t.pull({}, rule);
    expect(await statuses()).toEqual(['CONFIRMED']);
    expect(
      (await t.stores.pulls.rowsOf('rakuten:77777', ['3358:A-100'])).map(({ dueAtMs }) => dueAtMs),
    ).toEqual([null]);
  });
});
