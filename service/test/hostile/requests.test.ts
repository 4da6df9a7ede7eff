// A few thousand hostile requests; `npm run test:hostile` sends a hundred thousand.

import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { attack } from './attack.ts';
import { TEST_SEED } from './seed.ts';

describe.each(DATABASES)('on $name', ({ create }) => {
  test('hostile requests do not cause failures, and every response is documented', async () => {
    const { requests, statuses } = await attack(await create(), 2_000, TEST_SEED);
    expect(requests).toBe(2_000);
    // Requests reached the service itself, not only Bun's parser.
    const usual = [200, 204, 304, 400, 401, 403, 404, 405, 414];
    expect(usual.filter((status) => !statuses.has(status))).toEqual([]);
  });
});
