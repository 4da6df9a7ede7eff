import { describe, expect, test } from 'bun:test';
import { Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { importLinks } from '../../src/importer/import-links.ts';
import { InvalidRows, type WholeFileOptions } from '../../src/importer/import-report.ts';
import { openTestStores, rejection } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { id } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const template = (name: string) => `https://network.example/${name}?sub={click}`;

function load(stores: Stores, file: string, options: WholeFileOptions = {}) {
  return importLinks(stores.links, sourceFrom(file), options);
}

describe.each(DATABASES)('link imports on $name', (database) => {
  const open = openTestStores();

  test('a links import adds, changes, keeps and withdraws links to match the file', async () => {
    const stores = await open.stores(await database.create());
    const first = [
      { retailerId: id(1), template: template('a') },
      { dealId: id(2).toUpperCase(), template: template('b') },
      { dealId: id(3), retailerId: null, template: template('c') },
    ];
    expect(await load(stores, ndjson(first))).toMatchObject({
      read: 3,
      added: 3,
      changed: 0,
      withdrawn: 0,
    });
    const { activation } = await stores.revisions();
    expect(await load(stores, ndjson(first))).toMatchObject({ read: 3, added: 0, unchanged: 3 });
    // Nothing has changed, so servers have nothing to reload.
    expect((await stores.revisions()).activation).toBe(activation);

    const csv = `dealId,retailerId,template\n${id(2)},,${template('d')}\n,${id(1)},${template('a')}\n`;
    expect(await load(stores, csv)).toMatchObject({ changed: 1, unchanged: 1, withdrawn: 1 });
    expect((await stores.revisions()).activation).toBe(activation + 1);
    expect(await stores.links.list()).toEqual([
      { id: id(1), kind: 'retailer', template: template('a'), domains: [] },
      { id: id(2), kind: 'deal', template: template('d'), domains: [] },
    ]);
  });

  test("a retailer's domains are normalised, sorted and stored, from every format", async () => {
    const stores = await open.stores(await database.create());
    const link = { id: id(1), kind: 'retailer', template: template('a') };
    const row = { retailerId: id(1), template: template('a') };
    const written = ['WWW.Shop.example.', 'bücher.example', 'shop.example:443', 'shop.co.uk'];
    const expected = ['shop.co.uk', 'shop.example', 'xn--bcher-kva.example'];
    for (const file of [
      ndjson([{ ...row, domains: written }]),
      JSON.stringify([{ ...row, domains: written.join(' ') }]),
      `retailerId,template,domains\n${id(1)},${template('a')},${written.join('  ')}\n`,
    ]) {
      await load(stores, file);
      expect(await stores.links.list()).toEqual([{ ...link, domains: expected }] as never);
    }
    for (const domains of [null, [], '']) {
      await load(stores, ndjson([{ ...row, domains }]));
      expect(await stores.links.list()).toEqual([{ ...link, domains: [] }] as never);
    }
  });

  test('servers reload the catalogue only if an import changes domains', async () => {
    const stores = await open.stores(await database.create());
    const revision = async () => (await stores.revisions()).catalogue;
    const row = (name: string, ...domains: string[]) => ({
      retailerId: id(1),
      template: template(name),
      domains,
    });
    const before = await revision();
    const steps: [file: string, change: number][] = [
      [ndjson([row('a')]), 0],
      [ndjson([row('b')]), 0],
      [ndjson([row('b', 'shop.example')]), 1],
      [ndjson([row('c', 'shop.example')]), 1],
      [ndjson([row('c', 'shop.example', 'other.example')]), 2],
      [ndjson([{ retailerId: id(2), template: template('d') }]), 3],
      [ndjson([{ retailerId: id(3), template: template('d') }]), 3],
    ];
    for (const [file, change] of steps) {
      await load(stores, file, { allowWithdrawals: true });
      expect((await revision()) - before).toBe(change);
    }
  });

  test('a links import rejects invalid domains, public suffixes, and domains in the row of a deal', async () => {
    const stores = await open.stores(await database.create());
    const row = (domains: unknown, field = 'retailerId', number = 1) => ({
      [field]: id(number),
      template: template('a'),
      domains,
    });
    const reason = 'must be a domain such as shop.example, and not a public suffix such as co.uk';
    const rows = [
      row(['shop.example', 'co.uk'], 'retailerId', 1),
      row(['https://shop.example'], 'retailerId', 2),
      row('shop.example myshopify.com', 'retailerId', 3),
      row(['shop.example'], 'dealId', 4),
      row(7, 'retailerId', 5),
      row([7], 'retailerId', 6),
    ];
    expect((await rejection(load(stores, ndjson(rows)))).message.split('\n')).toEqual([
      `line 1: domains[1] ${reason}`,
      `line 2: domains[0] ${reason}`,
      `line 3: domains[1] ${reason}`,
      'line 4: domains must not be set for a deal, only for a retailer',
      'line 5: domains must be a list',
      'line 6: domains[0] must be a string',
      'Nothing was imported: 6 of 6 rows are invalid.',
    ]);
  });

  test('rejects a links file that would withdraw most links unless --allow-withdrawals is set; a merge withdraws none', async () => {
    const stores = await open.stores(await database.create());
    const rows = [1, 2, 3].map((number) => ({ retailerId: id(number), template: template('a') }));
    await load(stores, ndjson(rows));
    const error = await rejection(load(stores, ndjson(rows.slice(2))));
    expect(error).toBeInstanceOf(Refused);
    expect(error.message).toBe(
      'this file would withdraw 2 of 3 links, more than 50 %; nothing was imported. If this is intended, add --allow-withdrawals',
    );
    expect(await rejection(load(stores, ndjson(rows.slice(1)), { maxWithdrawals: 30 }))).toBeInstanceOf(
      Refused,
    );
    expect(await load(stores, ndjson(rows.slice(2)), { merge: true })).toMatchObject({ withdrawn: 0 });
    expect(await stores.links.list()).toHaveLength(3);
    expect(await load(stores, ndjson(rows.slice(2)), { allowWithdrawals: true })).toMatchObject({
      withdrawn: 2,
    });
    expect(await stores.links.list()).toHaveLength(1);
  });

  test('a links import reports every invalid row and changes nothing', async () => {
    const stores = await open.stores(await database.create());
    const rows = [
      { retailerId: id(1), template: template('a') },
      { retailerId: id(1), template: template('b') },
      { dealId: id(1), retailerId: id(2), template: template('c') },
      { template: template('d') },
      { dealId: 'x', template: 'https://network.example/' },
      { dealId: id(4), template: 'http://network.example/{click}' },
      { dealId: id(5), template: template('e'), country: 'DE' },
      [],
      { dealId: id(6), template: `${template('f')}\ud800` },
    ];
    const error = await rejection(load(stores, ndjson(rows)));
    expect(error).toBeInstanceOf(InvalidRows);
    expect(error.message.split('\n')).toEqual([
      'line 2: retailerId was already used on line 1',
      'line 3: the row must have either retailerId or dealId',
      'line 4: the row must have either retailerId or dealId',
      'line 5: dealId must be a UUID',
      'line 5: template must contain {click} exactly once, not 0 times',
      'line 6: template must start with https://, a host without user information, and a path',
      'line 7: country is an unknown field',
      'line 8: the row must be a JSON object',
      'line 9: template is not valid Unicode',
      'Nothing was imported: 8 of 9 rows are invalid.',
    ]);
    expect(await stores.links.list()).toEqual([]);

    // With skipInvalid, the valid rows are imported and nothing is withdrawn.
    await load(stores, ndjson([{ retailerId: id(9), template: template('z') }]));
    expect(await load(stores, ndjson(rows), { skipInvalid: true })).toMatchObject({
      added: 1,
      invalid: 8,
      withdrawn: 0,
      notes: ['Nothing was withdrawn, because the file has invalid rows.'],
    });
    expect((await stores.links.list()).map((link) => link.id)).toEqual([id(1), id(9)]);
    expect(await load(stores, ndjson(rows), { skipInvalid: true, merge: true })).toMatchObject({
      notes: [],
    });
    const empty = { dryRun: true, allowEmpty: true, allowWithdrawals: true };
    expect(await load(stores, ndjson([]), empty)).toMatchObject({ withdrawn: 2 });
    expect(await stores.links.list()).toHaveLength(2);
  });
});
