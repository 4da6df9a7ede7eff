// The retailers of transactions: stored beside the document, from the row or from the click, kept by rows without one, and
// never a change for clients that poll.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { TRANSACTION_FIELDS } from '@offerbook/wire/transaction.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import { InvalidRows } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { CREATE_OPTIONS } from '../../src/storage/open-stores.ts';
import {
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
} from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const [SHOP, OTHER_SHOP] = [id(0x901), id(0x902)];

describe.each(DATABASES)('retailers of transactions on $name', (database) => {
  const open = openTestStores();

  async function scene() {
    let nowMs = Date.UTC(2026, 10, 20);
    const url = await database.create();
    const stores = await open.stores(url, CREATE_OPTIONS, () => nowMs);
    const org = await newOrganisation(stores);
    const attributor = { ids: new ClickIds(await stores.clickKey()), clicks: stores.clicks };
    const load = async (rows: string | readonly object[], options: TransactionImportOptions = {}) => {
      nowMs += 1_000;
      const source = sourceFrom(typeof rows === 'string' ? rows : ndjson(rows));
      const { added, changed, unchanged, stale } = await importTransactions(
        ...[stores.transactions, org, source, () => nowMs, { attributor, ...options }],
      );
      return { added, changed, unchanged, stale };
    };
    const retailers = async () =>
      Object.fromEntries(await stores.transactions.findRetailers([1, 2, 3].map(id)));
    return { stores, org, load, retailers };
  }

  test('a row can name its retailer in any format, and the document does not contain it', async () => {
    const { stores, org, load, retailers } = await scene();
    await load([
      { ...transaction(1), retailerId: SHOP.toUpperCase() },
      { ...transaction(2), retailerId: null },
      transaction(3),
    ]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
    const documents = await readAllTransactions(stores, org.id);
    expect(documents.map(({ document }) => Object.keys(JSON.parse(document)))).toEqual(
      Array.from({ length: 3 }, () => TRANSACTION_FIELDS),
    );
    const { id: _, ...rest } = transaction(2);
    const fields = { ...rest, retailerId: OTHER_SHOP };
    const cells = Object.values(fields).map((value) => value ?? '');
    await load(`id,${Object.keys(fields).join(',')}\n${id(2)},${cells.join(',')}\n`);
    expect(await retailers()).toEqual({ [id(1)]: SHOP, [id(2)]: OTHER_SHOP });
  });

  test('a row with a malformed retailerId is rejected, and nothing is imported', async () => {
    const { load, retailers } = await scene();
    for (const retailerId of ['shop', '', 7, `${SHOP}0`]) {
      const error = await rejection(
        load([
          { ...transaction(1), retailerId: SHOP },
          { ...transaction(2), retailerId },
        ]),
      );
      expect(error).toBeInstanceOf(InvalidRows);
      expect((error as InvalidRows).report.problems).toMatchObject([
        { field: 'retailerId', reason: expect.stringMatching(/^must be a UUID$/) },
      ]);
      expect(await retailers()).toEqual({});
    }
  });

  test('a new retailerId alone does not change the stamp, and a row without a retailerId keeps the stored one', async () => {
    const { stores, org, load, retailers } = await scene();
    await load([{ ...transaction(1), retailerId: SHOP }]);
    const before = await readAllTransactions(stores, org.id);
    const versions = await stores.history.versions(id(1));
    expect(await load([{ ...transaction(1), retailerId: OTHER_SHOP }])).toMatchObject({
      unchanged: 1,
      changed: 0,
    });
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
    expect(await load([transaction(1)])).toMatchObject({ unchanged: 1 });
    expect(await readAllTransactions(stores, org.id)).toEqual(before);
    expect(await stores.history.versions(id(1))).toEqual(versions);
    expect(await load([transaction(1, { status: 'CONFIRMED' })])).toMatchObject({ changed: 1 });
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
  });

  test('an older row does not change the retailer', async () => {
    const { load, retailers } = await scene();
    const row = (hour: number, retailerId: string) => ({
      ...transaction(1),
      sourceUpdatedAt: `2026-11-14T${hour}:00:00`,
      retailerId,
    });
    await load([row(12, SHOP)]);
    for (const changes of [{}, { cashback: 1 }]) {
      await load([{ ...row(11, OTHER_SHOP), ...changes }]);
      expect(await retailers()).toEqual({ [id(1)]: SHOP });
    }
    await load([row(13, OTHER_SHOP)]);
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
    await load([row(12, SHOP)]);
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
  });

  test('a sale with a click id gets the retailer of the click, and keeps it after the click is purged', async () => {
    const { stores, org, load, retailers } = await scene();
    const click = await recordClick(stores, org.id, { retailerId: SHOP });
    const row = { ...transaction(1), clickId: click.id, retailerId: OTHER_SHOP };
    await load([row]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
    await stores.clicks.deleteOf(org.id);
    await load([{ ...transaction(1, { status: 'CONFIRMED' }), clickId: click.id }]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
  });

  test('a dry run stores no retailer', async () => {
    const { load, retailers } = await scene();
    await load([transaction(1)]);
    await load([{ ...transaction(1), retailerId: SHOP }], { dryRun: true });
    expect(await retailers()).toEqual({});
  });
});
