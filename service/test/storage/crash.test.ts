import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { openTestStores, readAllTransactions } from './open-test-stores.ts';
import { type ReportedIds, ROWS_A_COMMIT, startProcess } from './other-process.ts';

describe.each(DATABASES)('killing a process on $name', (database) => {
  const open = openTestStores();

  test('a process killed at any moment keeps every reported commit and no partial commit', async () => {
    const { url, stores, orgId } = await open.scene(database);
    const reported: ReportedIds = [];

    for (const commits of [1, 3, 7]) {
      const other = startProcess('keep-writing', url, String(orgId));
      for (let i = 0; i < commits; i++) reported.push(...((await other.next<ReportedIds>()) ?? []));
      other.child.kill('SIGKILL');
      reported.push(...(await other.rest<ReportedIds>()).reports.flat());

      // Take the lock, to wait for a commit of the killed process that the database may still be finishing.
      await stores.transactions.write(orgId, async () => {});
      const kept = (await readAllTransactions(stores, orgId)).map(({ id }) => id);
      expect(reported.filter((id) => !kept.includes(id))).toEqual([]);
      expect(kept.length % ROWS_A_COMMIT).toBe(0);
    }
    expect(reported.length).toBeGreaterThanOrEqual(11 * ROWS_A_COMMIT);
  });
});
