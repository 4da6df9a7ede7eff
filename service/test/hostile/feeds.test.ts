// A few hundred mutated network files; `npm run test:hostile` tests tens of thousands.

import { expect, test } from 'bun:test';
import { FEED_NAMES } from '../../../feeds/test/any-feed.ts';
import { attackWithFeeds } from './feed-attack.ts';
import { TEST_SEED } from './seed.ts';

test.each([...FEED_NAMES, 'table' as const])(
  'mutated files of %s are converted in time or rejected with the location of the problem, and do not change any prototype',
  async (name) => {
    const { files, converted, invalid } = await attackWithFeeds(name, 200, TEST_SEED);
    expect(files).toBe(200);
    expect(Math.min(converted, invalid)).toBeGreaterThan(20);
  },
);
