// Imports from a machine with a wrong clock. A function in the search path overrides PostgreSQL's own clock function.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';

const SALES = join(import.meta.dir, '..', '..', '..', 'examples', 'data', 'transactions.csv');

test("an import warns if its clock is ahead of the database's, but not if it is correct or behind", async () => {
  const url = await newPostgresDatabase();
  const env = { OFFERBOOK_DATABASE_URL: `${url}?search_path=public,pg_catalog` };
  await using sql = new SQL(url);
  const setDatabaseClock = (seconds: number) =>
    sql.unsafe(`CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS $$ SELECT pg_catalog.clock_timestamp() + make_interval(secs => ${seconds}) $$`);
  await offerbook(['orgs', 'create', 'acme'], { env });
  const importSales = async () => {
    const { code, stderr } = await offerbook(['import', 'transactions', SALES, '--org', 'acme'], { env });
    return { code, stderr };
  };
  expect(await importSales()).toEqual({ code: 0, stderr: '' });
  await setDatabaseClock(3_600);
  expect(await importSales()).toEqual({ code: 0, stderr: '' });
  await setDatabaseClock(-3_600);
  expect(await importSales()).toEqual({
    code: 0,
    stderr: expect.stringMatching(
      /^offerbook: this machine's clock is 3[56]\d\d s ahead of the database's\. This import and all later imports get stamps in the future; synchronise the clock\.\n$/,
    ),
  });
});

test.each(DATABASES)('on $name, a correct clock is not reported as ahead', async ({ create }) => {
  const stores = await openStores(await create(), CREATE_OPTIONS);
  expect(await stores.clockLeadMs()).toBeLessThan(1_000);
  await stores.close();
});
