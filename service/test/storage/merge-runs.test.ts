import { describe, expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { mergeRuns, type Run } from '../../src/storage/transactions/merge-runs.ts';
import { idOf } from './open-test-stores.ts';

interface ListRun extends Run {
  readonly ids: readonly Uuid[];
}

/** Reads runs from lists in memory, and counts the rounds and the ids read. */
function counted() {
  const reads = { rounds: 0, ids: 0 };
  return {
    reads,
    async read(requests: readonly { run: ListRun; size: number }[], last: Uuid) {
      reads.rounds++;
      const chunks = requests.map(({ run, size }) => run.ids.filter((id) => id <= last).slice(0, size));
      reads.ids += chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      return chunks;
    },
  };
}

/** Unique ids distributed over sorted lists. Each id is in one list, because a transaction has one stamp. */
const dealt = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.nat(30)), {
    selector: ([n]) => n,
    maxLength: 400,
  })
  .map((pairs) => {
    const hands = Map.groupBy(pairs, ([, hand]) => hand);
    return [...hands.values()].map((hand) => hand.map(([n]) => idOf(n)).sort());
  });

describe('mergeRuns', () => {
  test('mergeRuns() finds the same ids as sorting all runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        dealt,
        dealt,
        fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 31, maxLength: 31 }),
        fc.integer({ min: 1, max: 150 }),
        async (hands, others, weights, count) => {
          const runs = hands.map((ids, i) => ({ ids, weight: weights[i] ?? 1 }));
          const known = new Set(hands.flat());
          const lists = others.map((list) => list.filter((id) => !known.has(id)));
          const { read } = counted();
          expect(await mergeRuns(runs, count, read, lists)).toEqual(
            [...hands.flat(), ...lists.flat()].sort().slice(0, count),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  test('mergeRuns() does not read any run twice if the ids are spread evenly over the runs', async () => {
    const runs = Array.from({ length: 200 }, (_, run) => ({
      ids: Array.from({ length: 1_000 }, (_, i) => idOf(i * 200 + run)),
      weight: 1,
    }));
    const { read, reads } = counted();
    await mergeRuns(runs, 101, read);
    expect(reads).toEqual({ rounds: 1, ids: 200 * 4 });
  });

  test('mergeRuns() reads few ids even if one run or a few runs contain all ids of the page', async () => {
    for (const holders of [1, 5, 20]) {
      // The smallest ids are in the first runs (the holders), one run after the other; the other runs have greater ids.
      const runs = Array.from({ length: 300 }, (_, run) => ({
        ids: Array.from({ length: 5_000 }, (_, i) =>
          idOf(run < holders ? run * 5_000 + i : 10_000_000 + run * 5_000 + i),
        ),
        weight: 1,
      }));
      const { read, reads } = counted();
      expect(await mergeRuns(runs, 101, read)).toEqual(Array.from({ length: 101 }, (_, i) => idOf(i)));
      expect(reads.rounds).toBeLessThanOrEqual(2);
      expect(reads.ids).toBeLessThan(300 * 3 + 34 * 101);
    }
  });

  test('mergeRuns() returns no ids if there are no runs', async () => {
    const { read, reads } = counted();
    expect(await mergeRuns([], 10, read)).toEqual([]);
    expect(await mergeRuns([{ ids: [], weight: 1 }], 10, read)).toEqual([]);
    expect(reads.rounds).toBe(1);
  });
});
