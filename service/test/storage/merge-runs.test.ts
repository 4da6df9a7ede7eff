import { describe, expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { mergeRuns } from '../../src/storage/transactions/merge-runs.ts';
import { idOf } from './open-test-stores.ts';

/** Runs in memory, which count the rounds and the ids read. */
function counted(runs: readonly (readonly Uuid[])[]) {
  const reads = { rounds: 0, ids: 0 };
  return {
    reads,
    numbers: [...runs.keys()],
    async read(numbers: string, size: number, last: Uuid) {
      reads.rounds++;
      return (JSON.parse(numbers) as number[]).flatMap((value) => {
        const ids = (runs[value] ?? []).filter((id) => id <= last).slice(0, size);
        reads.ids += ids.length;
        return ids.length === 0 ? [] : [{ value, ids: ids.join() }];
      });
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
      fc.asyncProperty(dealt, dealt, fc.integer({ min: 1, max: 150 }), async (hands, others, count) => {
        const known = new Set(hands.flat());
        const lists = others.map((list) => list.filter((id) => !known.has(id)));
        expect(await mergeRuns(counted(hands), count, lists)).toEqual(
          [...hands.flat(), ...lists.flat()].sort().slice(0, count),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('mergeRuns() does not read any run twice if the ids are spread evenly over the runs', async () => {
    const runs = counted(
      Array.from({ length: 200 }, (_, run) => Array.from({ length: 1_000 }, (_, i) => idOf(i * 200 + run))),
    );
    await mergeRuns(runs, 101);
    expect(runs.reads).toEqual({ rounds: 1, ids: 200 * 4 });
  });

  test('mergeRuns() reads few ids even if one run or a few runs contain all ids of the page', async () => {
    for (const holders of [1, 5, 20]) {
      // The smallest ids are in the first runs (the holders), one run after the other; the other runs have greater ids.
      const { reads, ...runs } = counted(
        Array.from({ length: 300 }, (_, run) => {
          const first = (run < holders ? 0 : 10_000_000) + run * 500;
          return Array.from({ length: 500 }, (_, i) => idOf(first + i));
        }),
      );
      expect(await mergeRuns(runs, 101)).toEqual(Array.from({ length: 101 }, (_, i) => idOf(i)));
      expect(reads.rounds).toBeLessThanOrEqual(2);
      expect(reads.ids).toBeLessThan(300 * 3 + 34 * 101);
    }
  });

  test('mergeRuns() returns no ids if there are no runs', async () => {
    const [none, empty] = [counted([]), counted([[]])];
    expect(await mergeRuns(none, 10)).toEqual([]);
    expect(await mergeRuns(empty, 10)).toEqual([]);
    expect([none.reads.rounds, empty.reads.rounds]).toEqual([0, 1]);
  });
});
