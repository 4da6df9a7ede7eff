// Sales with a click id: the click determines their organisation and user.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp, type Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import { ClickIds } from '../../src/activation/click-id.ts';
import type { Click, ClickId } from '../../src/domain/click.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { InvalidRows } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import {
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
} from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick as recordFixtureClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 12);
const clock = () => NOW_MS;
const LOST = 'the click record no longer exists; only the organisation and the click time are known';

/** Fields of a row that the click record also has. */
const OWN = {
  clickedAt: printTimestamp(Date.UTC(2020, 0, 1)),
  passbackUid: 'of the row',
  passbackData: 'of the row',
  couponId: id(98),
  promotionId: id(99),
};

/** A row as `convert` prints it for a sale with a click. */
function saleRow(number: number, clickId: unknown, with_: object = {}) {
  const { country, soldAt, currencyCode, orderValue, cashback, status } = transaction(number, {
    soldAt: printTimestamp(NOW_MS + 60_000),
  });
  return { id: id(number), clickId, country, soldAt, currencyCode, orderValue, cashback, status, ...with_ };
}

async function load(
  stores: Stores,
  rows: readonly object[],
  options: TransactionImportOptions & { org?: string } = {},
) {
  const { org, ...others } = options;
  const owner = org === undefined ? undefined : await stores.organisations.find(org);
  return importTransactions(stores, owner, sourceFrom(ndjson(rows)), clock, {
    allowEmpty: true,
    ...others,
  });
}

function recordClick(stores: Stores, orgId: number, with_: Partial<Click> = {}): Promise<Click> {
  const own = { passbackUid: `user of ${orgId}`, activatedAtMs: NOW_MS, clickedAtMs: NOW_MS + 5_000 };
  return recordFixtureClick(stores, orgId, { ...own, ...with_ });
}

async function salesOf(stores: Stores, orgId: number) {
  const rows = await readAllTransactions(stores, orgId);
  return rows.map(({ document }) => {
    const { updatedAt: _, ...sale } = JSON.parse(document) as Transaction;
    return sale;
  });
}

describe.each(DATABASES)('sales with click ids on $name', (database) => {
  const open = openTestStores();

  async function openWithOrganisations() {
    const url = await database.create();
    const stores = await open.stores(url, undefined, clock);
    const orgs: number[] = [];
    for (const name of ['acme', 'globex', 'initech']) orgs.push((await newOrganisation(stores, name)).id);
    const [acme = 0, globex = 0] = orgs;
    return { stores, orgs, acme, globex, url };
  }

  test("fields of the click record override the row's fields", async () => {
    const { stores, acme, globex } = await openWithOrganisations();
    const coupon = await recordClick(stores, acme, { passbackData: 'a=1' });
    const later = await recordClick(stores, globex, { kind: 'retailers', dealId: id(1), clickedAtMs: null });
    const own = { ...OWN, activatedAt: '2020-01-01T00:00:00' };
    const rows = [saleRow(1, coupon.id, own), saleRow(2, later.id, own), saleRow(3, later.id)];
    expect(await load(stores, rows)).toMatchObject({ read: 3, added: 3, invalid: 0, notes: [] });
    const { clickId: _, ...plain } = saleRow(1, coupon.id);
    const nothing = {
      clickedAt: null,
      cashbackOfferId: null,
      couponId: null,
      promotionId: null,
      passbackData: null,
    };
    expect(await salesOf(stores, acme)).toEqual([
      {
        ...plain,
        ...nothing,
        clickedAt: printTimestamp(NOW_MS + 5_000),
        activatedAt: printTimestamp(NOW_MS),
        passbackUid: `user of ${acme}`,
        passbackData: 'a=1',
        couponId: id(21),
        promotionId: id(99),
      },
    ]);
    const fromRecord = { activatedAt: printTimestamp(NOW_MS), passbackUid: `user of ${globex}` };
    expect(await salesOf(stores, globex)).toEqual([
      {
        ...plain,
        ...nothing,
        ...OWN,
        id: id(2),
        ...fromRecord,
      },
      { ...plain, ...nothing, id: id(3), ...fromRecord },
    ]);
  });

  test('imports for several organisations give the same result when repeated, split or concurrent, and move only the affected change clocks', async () => {
    const { stores, orgs, url } = await openWithOrganisations();
    const other = await open.stores(url, undefined, clock);
    const clicks: ClickId[] = [];
    for (let number = 0; number < 12; number++)
      clicks.push((await recordClick(stores, orgs[number % 3] ?? 0, { passbackUid: `user ${number}` })).id);
    let first = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...clicks), { minLength: 1, maxLength: 30 }),
        fc.nat(30),
        fc.constantFrom('twice', 'halves', 'at once'),
        async (chosen, cut, way) => {
          first += 1_000;
          const rows = chosen.map((click, number) => saleRow(first + number, click));
          const before = await Promise.all(orgs.map((org) => completeThrough(stores, org)));
          const halves = [rows.slice(0, cut), rows.slice(cut)];
          if (way === 'twice') await load(stores, rows);
          if (way === 'halves') for (const half of halves) await load(stores, half);
          if (way === 'at once') await Promise.all([load(stores, [...rows].reverse()), load(other, rows)]);
          expect(await load(stores, rows)).toMatchObject({ unchanged: rows.length, added: 0, changed: 0 });
          for (const [index, orgId] of orgs.entries()) {
            const expected = rows.filter((row) => clicks.indexOf(row.clickId as ClickId) % 3 === index);
            const mine = (await salesOf(stores, orgId)).filter(
              (sale) => sale.id >= id(first) && sale.id < id(first + 1_000),
            );
            expect(mine.map((sale) => [sale.id, sale.passbackUid])).toEqual(
              expected.map((row) => [row.id, `user ${clicks.indexOf(row.clickId as ClickId)}`]),
            );
            const through = await completeThrough(stores, orgId);
            const stamps = (await readAllTransactions(stores, orgId)).map(
              ({ document }) => JSON.parse(document).updatedAt as Timestamp,
            );
            const last = stamps.reduce<string>((a, b) => (a > b ? a : b), '');
            // The change clock moves only for organisations with changes.
            expect(through > (before[index] ?? '')).toBe(expected.length > 0);
            if (last !== '') expect(last).toBe(through);
          }
        },
      ),
      { numRuns: 10 },
    );
  });

  test('a sale whose click record is lost gets its organisation and activation time from the click id, and implausible sale times are noted', async () => {
    const { stores, acme } = await openWithOrganisations();
    const lost = new ClickIds(await stores.clickKey()).make(acme, NOW_MS);
    const { id: known } = await recordClick(stores, acme);
    const soldAt = (ms: number) => ({ soldAt: printTimestamp(ms) });
    const report = await load(stores, [
      saleRow(1, lost, { clickedAt: '2026-11-15T12:00:01' }),
      saleRow(2, known, soldAt(NOW_MS - 60_000)),
      saleRow(3, known, soldAt(NOW_MS + 120 * DAY_MS)),
      saleRow(4, known, soldAt(NOW_MS + 120 * DAY_MS + 1_000)),
      // Networks often report whole seconds.
      saleRow(5, known, soldAt(NOW_MS - 1_000)),
      saleRow(6, known, soldAt(NOW_MS - 1_001)),
    ]);
    expect(report).toMatchObject({
      added: 6,
      notes: [
        `line 1: ${LOST}`,
        'line 2: was sold before its click',
        'line 4: took place more than 120 days after its click',
        'line 6: was sold before its click',
      ],
    });
    expect((await salesOf(stores, acme))[0]).toMatchObject({
      activatedAt: printTimestamp(NOW_MS),
      clickedAt: '2026-11-15T12:00:01',
      passbackUid: null,
      couponId: null,
    });
  });

  test('sales keep their user, times and deal after the click record is deleted, except for erased users', async () => {
    const { stores, acme, globex } = await openWithOrganisations();
    const coupon = await recordClick(stores, acme, { passbackData: 'a=1' });
    const offer = await recordClick(stores, globex, { kind: 'cashbackOffers', dealId: id(11) });
    const erased = await recordClick(stores, acme, { passbackUid: 'erased' });
    const other = await recordClick(stores, acme, {
      id: new ClickIds(await stores.clickKey()).make(acme, NOW_MS + 1),
    });
    const clicks = [coupon, offer, erased];
    const rows = clicks.map((click, index) => saleRow(index + 1, click.id));
    await load(stores, rows);
    await stores.erasures.erase((await stores.organisations.find('acme')) as Organisation, 'erased');
    // After a restore, the clicks may no longer be linked to their sales, so a purge deletes them all.
    await stores.clicks.remove([...clicks, other]);
    await stores.clicks.put(clicks);
    expect(await stores.clicks.purge(NOW_MS + DAY_MS)).toBe(3);

    const keeps = 'the click record no longer exists; the sale keeps its stored user, time and deal';
    expect(await load(stores, rows)).toMatchObject({
      unchanged: 3,
      notes: [1, 2, 3].map((line) => `line ${line}: ${keeps}`),
    });
    const before = [...(await salesOf(stores, acme)), ...(await salesOf(stores, globex))];
    const [ofCoupon, ofErased, ofOffer] = before;
    expect(ofCoupon).toMatchObject({
      clickedAt: printTimestamp(NOW_MS + 5_000),
      passbackUid: `user of ${acme}`,
      passbackData: 'a=1',
      couponId: id(21),
    });
    expect(ofErased).toMatchObject({ passbackUid: null, passbackData: null, couponId: id(21) });
    expect(ofOffer).toMatchObject({ passbackUid: `user of ${globex}`, cashbackOfferId: id(11) });
    // Row values are used only for fields that are not stored, and never for the user.
    const decided = rows.map((row) => ({ ...row, ...OWN, status: 'CONFIRMED' }));
    expect(await load(stores, decided)).toMatchObject({ changed: 3 });
    const confirmed = { status: 'CONFIRMED', promotionId: id(99) };
    expect<unknown>(await salesOf(stores, acme)).toEqual([
      { ...ofCoupon, ...confirmed },
      { ...ofErased, ...confirmed },
    ]);
    expect<unknown>(await salesOf(stores, globex)).toEqual([{ ...ofOffer, ...confirmed, couponId: id(98) }]);
    // A sale that refers to another deleted click keeps nothing from this one.
    expect(await load(stores, [saleRow(1, other.id, { status: 'CONFIRMED' })])).toMatchObject({
      changed: 1,
      notes: [`line 1: ${LOST}`],
    });
    expect((await salesOf(stores, acme))[0]).toMatchObject({
      activatedAt: printTimestamp(NOW_MS + 1),
      clickedAt: null,
      passbackUid: null,
      passbackData: null,
      couponId: null,
    });
    // Another organisation's transaction is not read.
    const error = await rejection(load(stores, [saleRow(2, coupon.id)]));
    expect(error.message).toStartWith('line 1: id belongs to another organisation');
    const { invalid, notes } = await load(stores, [saleRow(2, coupon.id)], { skipInvalid: true });
    expect([invalid, notes]).toEqual([1, [`line 1: ${LOST}`]]);
  });

  test('an import reports at most 20 notes about clicks and counts the rest', async () => {
    const { stores, acme } = await openWithOrganisations();
    const { id: click } = await recordClick(stores, acme);
    const early = { soldAt: printTimestamp(NOW_MS - DAY_MS) };
    const rows = Array.from({ length: 22 }, (_, index) => saleRow(index + 1, click, early));
    const { notes } = await load(stores, rows);
    expect(notes).toEqual([
      ...Array.from({ length: 20 }, (_, index) => `line ${index + 1}: was sold before its click`),
      '… and 2 more notes of this kind',
    ]);
  });

  test('a purge keeps a click that a new or changed sale refers to, but not one that only a dry run referred to', async () => {
    const { stores, acme } = await openWithOrganisations();
    const [tried, named, added] = [
      await recordClick(stores, acme),
      await recordClick(stores, acme),
      await recordClick(stores, acme),
    ];
    await load(stores, [saleRow(1, tried.id)], { dryRun: true });
    await load(stores, [saleRow(2, null)], { org: 'acme' });
    const rows = [saleRow(2, named.id), saleRow(3, added.id)];
    expect(await load(stores, rows)).toMatchObject({ changed: 1, added: 1 });
    expect(await stores.clicks.purge(NOW_MS + DAY_MS)).toBe(1);
    const kept = await stores.clicks.find([tried.id, named.id, added.id]);
    expect([...kept.keys()].sort()).toEqual([named.id, added.id].sort());
  });

  test('a sale without a valid click id is rejected, or quarantined unchanged', async () => {
    const { stores, acme, globex } = await openWithOrganisations();
    const { id: click } = await recordClick(stores, acme);
    const { id: ofGlobex } = await recordClick(stores, globex);
    const noOrganisation = new ClickIds(await stores.clickKey()).make(99, NOW_MS);
    const strange = [
      saleRow(2, 'c7Qm2ZxT0a'),
      saleRow(3, new ClickIds('another key').make(acme, NOW_MS)),
      saleRow(4, null),
      saleRow(5, 17),
      saleRow(6, noOrganisation),
    ];
    const rows = [saleRow(1, click), ...strange];
    const error = await rejection(load(stores, rows));
    expect(error).toBeInstanceOf(InvalidRows);
    expect(error.message.split('\n')).toEqual([
      'line 2: clickId is not a click id of this installation',
      'line 3: clickId is not a click id of this installation',
      'line 4: clickId is missing, and --org is not set',
      'line 5: clickId is not a click id of this installation',
      'line 6: clickId is not a click id of this installation',
      'Nothing was imported: 5 of 6 rows are invalid.',
    ]);
    expect(await salesOf(stores, acme)).toEqual([]);
    const put: string[] = [];
    const unattributed = {
      async put(texts: readonly string[]) {
        put.push(...texts);
      },
      keep: () => Promise.reject(new Error('the disk is full')),
    };
    // Rows are quarantined before the import commits: if that fails, nothing is imported. A dry run does not quarantine rows.
    await expect(load(stores, rows, { unattributed })).rejects.toThrow('the disk is full');
    expect(await salesOf(stores, acme)).toEqual([]);
    const counts = { read: 6, added: 1, invalid: 0, aside: 5, notes: [] };
    expect(await load(stores, rows, { unattributed, dryRun: true })).toMatchObject(counts);
    put.length = 0;
    unattributed.keep = async () => expect(await salesOf(stores, acme)).toEqual([]) as never;
    expect(await load(stores, rows, { unattributed })).toMatchObject(counts);
    expect(put.map((row) => JSON.parse(row))).toEqual(strange);

    // With --org, rows without a click belong to that organisation, and another organisation's click is an error.
    const byHand = [saleRow(4, null, { passbackUid: 'by hand' })];
    expect(await load(stores, byHand, { org: 'acme' })).toMatchObject({ added: 1 });
    const foreign = await rejection(load(stores, [saleRow(7, ofGlobex)], { org: 'acme', unattributed }));
    expect(foreign.message).toStartWith('line 1: clickId belongs to another organisation');
    expect((await salesOf(stores, acme)).map(({ passbackUid }) => passbackUid)).toEqual([
      `user of ${acme}`,
      'by hand',
    ]);
  });

  test.each([
    ['a few rows', 3, {}],
    ['more rows than an import lists', 30, {}],
    ['more invalid rows than an import reads', 10_500, {}],
    ['--skip-invalid', 3, { skipInvalid: true }],
  ])('without --org, rows without click ids get one sentence: %s', async (_, count, options) => {
    const { stores } = await openWithOrganisations();
    const rows = Array.from({ length: count }, (_, index) => saleRow(index, null));
    const error = await rejection(load(stores, rows, options));
    expect(error).toBeInstanceOf(InvalidRows);
    expect(error.message).toBe(
      'Nothing was imported: the rows have no clickId, and --org is missing; add --org with the organisation of the sales.',
    );
  });

  test('without --org, the problems are listed if a row is imported or has a different problem', async () => {
    const { stores, orgs } = await openWithOrganisations();
    const { id: click } = await recordClick(stores, orgs[0] ?? 0);
    const missing = 'line 1: clickId is missing, and --org is not set';
    for (const [second, problems] of [
      [saleRow(2, click), [missing, 'Nothing was imported: 1 of 2 rows is invalid.']],
      [
        saleRow(2, null, { country: 'de' }),
        [
          missing,
          'line 2: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
          'Nothing was imported: 2 of 2 rows are invalid.',
        ],
      ],
    ] as const) {
      const error = await rejection(load(stores, [saleRow(1, null), second]));
      expect(error.message.split('\n')).toEqual(problems as unknown as string[]);
    }
  });
});

async function completeThrough(stores: Stores, orgId: number): Promise<string> {
  const window = { minMs: 0, maxMs: 0 };
  const { completeThroughMs } = await stores.transactions.page({ orgId, window, limit: 1 });
  return printTimestamp(completeThroughMs);
}
