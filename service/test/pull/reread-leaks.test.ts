// Old sales are read again at networks whose change filters leak: every change is found, with a warning. On honest networks,
// nothing is. `npm run test:pull` does the same for all networks, with more sales.

import { expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { runWithLeaks } from './leaks.ts';

const [DATABASE] = DATABASES;
if (DATABASE === undefined) throw new Error('there is no database to test with');

test('finds every change that the filters did not list, and warns of it', async () => {
  const { before, after, found } = await runWithLeaks('awin', DATABASE, { leakShare: 0.3, salesPerDay: 8 });
  expect(before.wrong).toBeGreaterThan(3);
  expect(after).toMatchObject({ lost: 0, extra: 0, wrong: 0, needless: 0, examples: [] });
  expect(found).toBeGreaterThanOrEqual(before.wrong);
});

test('finds nothing if the network lists every change', async () => {
  const { before, after, found } = await runWithLeaks('impact', DATABASE, { leakShare: 0, salesPerDay: 8 });
  expect([before.wrong, after.wrong, after.needless, found]).toEqual([0, 0, 0, 0]);
});
