import { describe, expect, test } from 'bun:test';
import { CANONICAL_UUID_PATTERN } from '@offerbook/wire/uuid.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { openTestStores } from './open-test-stores.ts';

describe.each(DATABASES)('organisations on $name', (database) => {
  const open = openTestStores();

  test('organisations are found by name and listed in name order', async () => {
    let nowMs = 1_000;
    const { organisations } = await open.stores(await database.create(), COMMAND_OPTIONS, () => nowMs);
    const zeta = await organisations.create('zeta');
    nowMs = 2_000;
    const acme = await organisations.create('Äcme & "Söhne"');
    const beta = await organisations.create('beta');

    expect(zeta).toEqual({
      id: expect.any(Number),
      name: 'zeta',
      createdAtMs: 1_000,
      publicId: expect.stringMatching(CANONICAL_UUID_PATTERN),
    });
    expect(acme).toMatchObject({ name: 'Äcme & "Söhne"', createdAtMs: 2_000 });
    expect(await organisations.find('Äcme & "Söhne"')).toEqual(acme);
    expect(await organisations.find('ZETA')).toBeUndefined();
    expect(await organisations.list()).toEqual([beta, zeta, acme] as never);
  });

  test('creating an organisation with an existing name changes nothing, even with two concurrent attempts', async () => {
    const { organisations } = await open.stores(await database.create());
    const both = await Promise.all([organisations.create('acme'), organisations.create('acme')]);
    const made = both.filter((each) => each !== undefined);

    expect(made).toHaveLength(1);
    expect(await organisations.create('acme')).toBeUndefined();
    expect(await organisations.list()).toEqual(made);
  });
});
