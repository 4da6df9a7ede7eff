// The short form of a scenario as tests, one for each database.

import { expect, test } from 'bun:test';
import { TEST_SEED } from '../support/test-seed.ts';
import { play } from './report/play.ts';
import { databasesOf, type Scenario } from './scenario.ts';

export function testShortForm(scenario: Scenario): void {
  const { name, guarantee, short } = scenario;
  if (short === undefined) throw new Error(`${name} has no short form`);
  const values = { busy: true, ...short.values };
  for (const database of databasesOf(scenario))
    test(`${guarantee}, on ${database.name} (to repeat: npm run test:chaos -- ${name} --seed ${TEST_SEED})`, async () => {
      const { violations } = await play(scenario, { seed: TEST_SEED, database, ...short, values });
      expect(violations).toEqual([]);
    });
}
