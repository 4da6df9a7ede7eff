// Sub-ids that are clicks, or that name the organisation: each sale belongs to the right organisation, also when later rows
// change it.

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { cjCorrection, cjRecord, idOf, rakutenSku } from '../../../feeds/test/fixture.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import { newOrganisation } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { PullTest, START_MS, total } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

const soldAtMs = START_MS - 3 * DAY_MS;
const DATES = { eventDate: '2026-11-17T00:00:00Z', clickDate: '2026-11-16T23:00:00Z' };

/** A sale, or its reversal. */
function listed(n: number, shopperId: string, reversedAtMs?: number) {
  const common = { ...DATES, originalActionId: String(1_700 + n), shopperId };
  return reversedAtMs === undefined
    ? {
        row: cjRecord({ ...common, commissionId: `29${n}`, postingDate: '2026-11-17T00:00:00Z' }),
        times: { posting: soldAtMs },
      }
    : {
        row: cjCorrection({
          ...{ ...common, commissionId: `30${n}` },
          postingDate: new Date(reversedAtMs).toISOString(),
        }),
        times: { posting: reversedAtMs },
      };
}

const idOfSale = (n: number) => idOf('cj', 'transaction', String(1_700 + n));

describe.each(DATABASES)('on $name', (database) => {
  test('org-uid: each organisation pulls its own sales, with its own position', async () => {
    await using t = await PullTest.open('cj', database);
    const other = await newOrganisation(t.stores, 'bmce');
    const kind = { subId: 'org-uid', separator: '-' };
    t.network.rows.push(listed(1, 'acme-user1'), listed(2, 'bmce-user2'), listed(3, 'nobody-user3'));
    expect(total(await t.pull({}, kind))).toMatchObject({ added: 1, invalid: 0 });
    expect([...(await t.stored()).values()].map(({ passbackUid }) => passbackUid)).toEqual(['user1']);
    expect(total(await t.pull({ org: other }, kind))).toMatchObject({ added: 1, invalid: 0 });
    const streams = (await t.stores.pulls.list()).filter(({ stream }) => stream === 'posting');
    expect(streams.map(({ orgName, counts }) => [orgName, counts.added])).toEqual([
      ['acme', 1],
      ['bmce', 1],
    ]);
    // The stored rows know their organisations too.
    t.nowMs += DAY_MS;
    const reversedAtMs = t.nowMs - 3_600_000;
    t.network.rows.push(listed(1, 'acme-user1', reversedAtMs), listed(2, 'bmce-user2', reversedAtMs));
    expect(total(await t.pull({}, kind))).toMatchObject({ added: 0, changed: 1, invalid: 0 });
    expect((await t.stored()).get(idOfSale(1))).toMatchObject({ status: 'DECLINED', passbackUid: 'user1' });
    expect(total(await t.pull({ org: other }, kind))).toMatchObject({ added: 0, changed: 1, invalid: 0 });
    const rows = await t.stores.pulls.rowsOf('cj:77777', ['1701', '1702', '1703']);
    expect(rows.map(({ saleId, orgId, subId }) => [saleId, orgId, subId])).toEqual([
      ...Array(2).fill(['1701', t.org.id, 'user1']),
      ...Array(2).fill(['1702', other.id, 'user2']),
    ]);
  });

  test("org-uid: the pull of one organisation does not confirm another organisation's sales by their age", async () => {
    await using t = await PullTest.open('rakuten', database);
    const other = await newOrganisation(t.stores, 'bmce');
    const kind = { subId: 'org-uid', separator: '-', confirmAfterDays: 5 };
    const at = 'Tue Nov 17 2026 00:00:00 GMT+0000 (UTC)';
    const row = rakutenSku({ transaction_date: at, process_date: at, u1: 'bmce-user2' });
    t.network.rows.push({ row, times: { process: soldAtMs } });
    expect(total(await t.pull({ org: other }, kind))).toMatchObject({ added: 1 });
    t.nowMs += 5 * DAY_MS;
    await t.pull({}, kind);
    await t.pull({ org: other }, kind);
    expect([...(await t.stored(other)).values()].map(({ status }) => status)).toEqual(['CONFIRMED']);
  });

  describe.each(['cj', 'rakuten'] as const)('%s', (network) => {
    const sale = (n: number, subId: string, reversedAtMs?: number) => {
      if (network === 'cj') return listed(n, subId, reversedAtMs);
      const at = 'Tue Nov 17 2026 00:00:00 GMT+0000 (UTC)';
      const common = { order_id: `A-${n}`, transaction_date: at, process_date: at, u1: subId };
      const amounts = reversedAtMs === undefined ? {} : { sale_amount: -81, commissions: -4.05 };
      const row = rakutenSku({ ...common, ...amounts, etransaction_id: `${n} ${reversedAtMs}` });
      return { row, times: { process: reversedAtMs ?? soldAtMs } };
    };

    test.each([
      ['uid', '', { subId: 'uid' }],
      ['org-uid', 'acme-', { subId: 'org-uid', separator: '-' }],
    ])(
      '%s: a sub-id that cannot be a passbackUid does not stop a pull: its sale has no user',
      async (_, start, kind) => {
        await using t = await PullTest.open(network, database);
        const subIds = ['ü'.repeat(128), 'a\u0007b', 'a\0b', 'M\uFFFDller', '\ud800', 'valid'];
        const notes: string[] = [];
        // The second pull finds the reversals of the same sales.
        for (const status of ['PENDING', 'DECLINED']) {
          const reversedAtMs = status === 'DECLINED' ? t.nowMs - 3_600_000 : undefined;
          t.network.rows.push(...subIds.map((uid, n) => sale(n, `${start}${uid}`, reversedAtMs)));
          const reports = await t.pull({ onNote: (note) => notes.push(note) }, kind);
          expect(errorsOf(reports).filter((error) => error !== null)).toEqual([]);
          const found = [...(await t.stored()).values()].map((sale) => [sale.passbackUid, sale.status]);
          expect(found.toSorted()).toEqual([...Array(5).fill([null, status]), ['valid', status]]);
          t.nowMs += DAY_MS;
        }
        expect(notes[0]).toEndWith('Sub-ids that cannot be a passbackUid: 5. Their sales have no user.');
      },
    );

    test('org-uid: the reversal of a sale whose user was erased is imported without the user', async () => {
      await using t = await PullTest.open(network, database);
      const kind = { subId: 'org-uid', separator: '-' };
      t.network.rows.push(sale(1, 'acme-user1'));
      await t.pull({}, kind);
      await t.stores.erasures.erase(t.org, 'user1');
      const [source, saleId] = network === 'cj' ? ['cj:77777', '1701'] : ['rakuten:77777', '3358:A-1'];
      const subIds = async () => (await t.stores.pulls.rowsOf(source, [saleId])).map(({ subId }) => subId);
      expect(await subIds()).toEqual([null]);
      t.nowMs += DAY_MS;
      t.network.rows.push(sale(1, 'acme-user1', t.nowMs - 3_600_000));
      expect(errorsOf(await t.pull({}, kind)).filter((error) => error !== null)).toEqual([]);
      expect([...(await t.stored()).values()]).toMatchObject([{ status: 'DECLINED', passbackUid: null }]);
      expect(await subIds()).toEqual([null, null]);
    });
  });

  test("click: a sale gets the click's organisation and user, and loses the user when the user is erased", async () => {
    await using t = await PullTest.open('cj', database);
    const click = await recordClick(t.stores, t.org.id);
    const clickId = click.id;
    t.network.rows.push(listed(1, clickId));
    const kind = { subId: 'click' };
    const reports = await t.pull({ org: undefined }, kind);
    expect(errorsOf(reports)).toEqual([null, null]);
    expect(total(reports)).toMatchObject({ added: 1, invalid: 0 });
    expect((await t.stored()).get(idOfSale(1))).toMatchObject({ passbackUid: click.passbackUid });
    expect(new ClickIds(await t.stores.clickKey()).parse(clickId)?.orgId).toBe(t.org.id);
    const [row] = await t.stores.pulls.rowsOf('cj:77777', ['1701']);
    expect([row?.orgId, row?.subId]).toEqual([t.org.id, clickId]);

    await t.stores.erasures.erase(t.org, click.passbackUid ?? '');
    t.nowMs += DAY_MS;
    t.network.rows.push(listed(1, clickId, t.nowMs - 3_600_000));
    expect(total(await t.pull({ org: undefined }, kind))).toMatchObject({ added: 0, changed: 1, invalid: 0 });
    expect((await t.stored()).get(idOfSale(1))).toMatchObject({ status: 'DECLINED', passbackUid: null });
  });

  test('click: a sale whose click is unknown is rejected, or set aside', async () => {
    await using t = await PullTest.open('cj', database);
    t.network.rows.push(listed(1, 'unknown'));
    const kind = { subId: 'click' };
    const [first] = await t.pull({ org: undefined }, kind);
    expect(first?.error).toContain('clickId');
    const rows: string[] = [];
    const unattributed = {
      put: async (found: readonly string[]) => {
        rows.push(...found);
      },
      keep: async () => {},
    };
    t.nowMs += 60_000;
    const reports = await t.pull({ org: undefined, unattributed }, kind);
    expect(errorsOf(reports)).toEqual([null, null]);
    expect(rows.length).toBe(1);
  });
});
