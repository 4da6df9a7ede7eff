// Walks over lists that change while they are read, without a count of all rows.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RequestFailed } from '../../src/pull/network-failures.ts';
import { walkPages } from '../../src/pull/walk-pages.ts';

interface ListRow {
  readonly id: number;
  readonly version: number;
}

/** What happens to a list before a page is read. */
type Change =
  | { readonly kind: 'none' }
  | { readonly kind: 'add' }
  /** `at` chooses the row. */
  | { readonly kind: 'delete' | 'change'; readonly at: number };

class ChangingList {
  readonly #isNewestFirst: boolean;
  readonly deleted = new Set<number>();
  rows: ListRow[];
  #lastId: number;

  constructor(length: number, isNewestFirst: boolean) {
    this.rows = Array.from({ length }, (_, id) => ({ id, version: 0 }));
    this.#lastId = length - 1;
    this.#isNewestFirst = isNewestFirst;
  }

  apply(change: Change): void {
    if (change.kind === 'none') return;
    if (change.kind === 'add') {
      this.#put({ id: ++this.#lastId, version: 0 });
      return;
    }
    const [row] = this.rows.splice(change.at % Math.max(1, this.rows.length), 1);
    if (row === undefined) return;
    if (change.kind === 'delete') this.deleted.add(row.id);
    else this.#put({ ...row, version: row.version + 1 });
  }

  /** Lists are sorted by the last change. */
  #put(row: ListRow): void {
    this.rows = this.#isNewestFirst ? [row, ...this.rows] : [...this.rows, row];
  }
}

const at = fc.nat(30);
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'none' as const }) },
  fc.constant({ kind: 'add' as const }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'change' as const), at }),
);

test('a walk that must not miss a row finds every row that stayed in the list throughout, or fails', async () => {
  const outcomes = { found: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.array(anyChange, { maxLength: 12 }),
      async (length, size, isNewestFirst, changes) => {
        const list = new ChangingList(length, isNewestFirst);
        const upcoming = [...changes];
        let found: ListRow[] = [];
        const walk = walkPages({
          begin: () => {
            found = [];
          },
          read: async (position = '0') => {
            list.apply(upcoming.shift() ?? { kind: 'none' });
            const next = Number(position) + size;
            found.push(...list.rows.slice(Number(position), next));
            return { next: next < list.rows.length ? String(next) : undefined, total: undefined };
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
        const missing = Array.from({ length }, (_, id) => id).filter(
          (id) => !ids.has(id) && !list.deleted.has(id),
        );
        expect(missing).toEqual([]);
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
