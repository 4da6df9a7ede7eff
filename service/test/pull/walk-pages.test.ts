// Walks over lists that change while they are read, without a count of all rows.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RequestFailed } from '../../src/pull/network-failures.ts';
import { walkPages } from '../../src/pull/walk-pages.ts';

interface ListRow {
  readonly id: number;
  readonly version: number;
}

/** What happens to a list before a page is read, and to which of its rows. */
const anyChange = fc.record({
  kind: fc.constantFrom('none', 'none', 'none', 'add', 'delete', 'change'),
  at: fc.nat(30),
});

test('a walk that must not miss a row finds every row that stayed in the list throughout, or fails', async () => {
  const outcomes = { found: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.array(anyChange, { maxLength: 12 }),
      async (length, size, isNewestFirst, changes) => {
        let list = Array.from({ length }, (_, id): ListRow => ({ id, version: 0 }));
        let lastId = length - 1;
        const deleted = new Set<number>();
        // Lists are sorted by the last change.
        const put = (row: ListRow) => {
          list = isNewestFirst ? [row, ...list] : [...list, row];
        };
        const change = ({ kind, at } = upcoming.shift() ?? { kind: 'none', at: 0 }) => {
          if (kind === 'add') put({ id: ++lastId, version: 0 });
          if (kind !== 'delete' && kind !== 'change') return;
          const [row] = list.splice(at % Math.max(1, list.length), 1);
          if (row !== undefined && kind === 'change') put({ ...row, version: row.version + 1 });
          else if (row !== undefined) deleted.add(row.id);
        };
        const upcoming = [...changes];
        let found: ListRow[] = [];
        const walk = walkPages({
          begin: () => {
            found = [];
          },
          read: async (position = '0') => {
            change();
            const next = Number(position) + size;
            found.push(...list.slice(Number(position), next));
            return { next: next < list.length ? String(next) : undefined, total: undefined };
          },
          digest: () => [...new Set(found.map(({ id, version }) => `${id} ${version}`))].sort().join(),
        });
        const isFailed = await walk.then(
          () => false,
          (error) => {
            expect(error).toEqual(
              new RequestFailed('reject', "the network's list keeps changing while it is read"),
            );
            return true;
          },
        );
        outcomes[isFailed ? 'failed' : 'found']++;
        if (isFailed) return;
        const ids = new Set(found.map(({ id }) => id));
        const all = Array.from({ length }, (_, id) => id);
        expect(all.filter((id) => !ids.has(id) && !deleted.has(id))).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
  expect(Math.min(outcomes.found, outcomes.failed)).toBeGreaterThan(10);
});

test('a list of one page is read once, and a list of several pages twice', async () => {
  const reads = async (pages: number) => {
    let count = 0;
    await walkPages({
      read: async (_position, number) => {
        count++;
        return { next: number < pages ? String(number) : undefined, total: undefined };
      },
      digest: () => '',
    });
    return count;
  };
  expect([await reads(1), await reads(3)]).toEqual([1, 6]);
});
