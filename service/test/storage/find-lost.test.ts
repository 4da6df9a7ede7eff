// Which stamps prove that a failover has lost changes.

import { expect, test } from 'bun:test';
import { findLost } from '../../src/storage/postgres/cluster-watch.ts';

/** The new primary had everything through 100. Recording the failover moved the clock to 200; since then, it has reached 300. */
const CLOCKS = { lastStampMs: 100, movedToMs: 200, clockMs: 300 };

test.each([
  ['nothing after the last stamp that the new primary had', 100, [90, 100], undefined],
  ['a clock of the last check that the new primary did not have', 101, [], 101],
  ['a page that is complete through a stamp before the recorded failover', 0, [199], 199],
  ['pages that may come from the new primary', 0, [200, 250, 300], undefined],
  ['a page that is complete through a stamp that the new primary has not reached', 0, [250, 301], 301],
  ['the last of several lost stamps', 120, [110, 150, 250], 150],
] as const)('%s', (_, checkedMs, announced, lost) => {
  expect(findLost(CLOCKS, checkedMs, announced)).toBe(lost);
});
