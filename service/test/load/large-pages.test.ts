// An organisation with the largest possible transactions, and a greedy client that polls them, do not slow down others. The
// long form is `npm run test:soak -- --only large`.

import { expect, test } from 'bun:test';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import { allowedMs } from '../support/allowed-ms.ts';
import { DATABASES } from '../support/databases.ts';
import { ENVELOPE_BYTES_MAX, runLargePages } from './large-pages.ts';

test.each(DATABASES.map((database) => [database.name, database] as const))(
  'the largest transactions are served in pages of 4 MiB, and a greedy client does not delay other organisations on %s',
  async (_, database) => {
    const report = await runLargePages(await database.create(), { transactions: 40, greedyMs: 1_500 });
    expect(report.walked).toEqual([40, 40, 40, 40]);
    expect(report.largestPageBytes).toBeLessThanOrEqual(PAGE_BYTES_MAX + ENVELOPE_BYTES_MAX);
    expect(report.greedy.count(200)).toBeGreaterThan(0);
    // On an idle machine, all requests succeed. If the greedy clients could take every queue slot, none would.
    expect(report.other.count(200)).toBeGreaterThan(0);
    expect(report.other.failures).toEqual({});
    expect(report.livez.percentileMs(1)).toBeLessThan(allowedMs(500));
    expect(report.memoryMb).toBeLessThan(600);
  },
);
