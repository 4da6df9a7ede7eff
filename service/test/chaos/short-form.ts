// The short form of a scenario as tests, one for each database.

import { expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { play } from './report/play.ts';
import type { Scenario } from './scenario.ts';

/** Runs the scenario's short form on each of its databases. `guarantee` begins the names of the tests. */
export function testShortForm(scenario: Scenario, guarantee: string): void {
  const { name, databases, short } = scenario;
  if (short === undefined) throw new Error(`${name} has no short form`);
  const targets =
    databases.length === 0 ? [undefined] : DATABASES.filter((each) => databases.includes(each.name));
  for (const database of targets) {
    const suffix = database === undefined ? '' : ` on ${database.name}`;
    test(`${guarantee}${suffix} (to repeat: npm run test:chaos -- ${name} --seed ${TEST_SEED})`, async () => {
      const { violations } = await play(scenario, { seed: TEST_SEED, database, ...short });
      expect(violations).toEqual([]);
    });
  }
}
