// Reading old sales again finds every change that a network's change filters did not list, and warns about it. If the filters
// list every change, it finds nothing. `npm run test:chaos -- pull` does the same for all networks, with more sales.

import { expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { runWithLeaks } from './leaks.ts';

const [DATABASE] = DATABASES;
if (DATABASE === undefined) throw new Error('there is no database to test with');

test('reading old sales again finds every change that the filters did not list, and warns about it', async () => {
  const { before, after, found } = await runWithLeaks('awin', DATABASE, { leakShare: 0.3, salesPerDay: 8 });
  expect(before.wrong).toBeGreaterThan(3);
  expect(after).toMatchObject({ lost: 0, extra: 0, wrong: 0, needless: 0, examples: [] });
  expect(found).toBeGreaterThanOrEqual(before.wrong);
});

test('reading old sales again finds no changes if the filters listed all of them', async () => {
  const { before, after, found } = await runWithLeaks('impact', DATABASE, { leakShare: 0, salesPerDay: 8 });
  expect([before.wrong, after.wrong, after.needless, found]).toEqual([0, 0, 0, 0]);
});
