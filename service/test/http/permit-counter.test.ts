// Permits of a limit that nodes share: when a node asks for more, and how many it takes. The windows are the test's
// own, since those of the database last a minute; cli/shared-limits.test.ts counts with a real one.

import { afterEach, expect, test } from 'bun:test';
import type { PermitStore } from '../../src/domain/stores.ts';
import { LocalCounter } from '../../src/http/access/request-counter.ts';
import { PermitCounter, PermitPool } from '../../src/http/permit-counter.ts';

const pools: PermitPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.stop();
});

/** A counter whose store is the test's own, and how many permits were asked for each time. */
function openCounter(limit: number, windowLeftMs: number, answerAfterMs = 0) {
  const taken = new Map<string, number>();
  const asked: (readonly [string, number])[] = [];
  const store: PermitStore = {
    async take(wanted) {
      for (const { key, count } of wanted) {
        asked.push([key, count]);
        taken.set(key, (taken.get(key) ?? 0) + count);
      }
      if (answerAfterMs > 0) await Bun.sleep(answerAfterMs);
      return {
        windowNumber: 1,
        windowLeftMs,
        taken: new Map(wanted.map(({ key }) => [key, taken.get(key) ?? 0])),
      };
    },
    async close() {},
  };
  const pool = new PermitPool(store, { onAway() {}, onBack() {} });
  pools.push(pool);
  return { counter: new PermitCounter(pool, 'public', limit, new LocalCounter()), asked };
}

test('permits that are left over when their window ends are not used in the next', async () => {
  const { counter, asked } = openCounter(1_000, 0);
  for (let i = 0; i < 4; i++) await counter.add('key');
  expect(asked).toEqual(Array(4).fill(['public key', 1]));
});

test('a window ends so long after the question as the database has said, however late its answer comes', async () => {
  const { counter } = openCounter(1_000, 50, 60);
  expect((await counter.add('key')).windowLeftMs).toBeLessThan(0);
});

test('of a crowd that comes when permits run out, one takes a block and the others one each', async () => {
  const { counter, asked } = openCounter(1_000, 60_000);
  const alone = 1 + 2 + 4 + 8 + 10;
  for (let i = 0; i < alone; i++) await counter.add('key');
  await Promise.all(Array.from({ length: 20 }, () => counter.add('key')));
  // What is asked for while an answer is awaited goes into one question.
  expect(asked.map(([, count]) => count)).toEqual([1, 2, 4, 8, 10, 10, 19]);
});

test('permits are kept for two hundred thousand keys, and every other one asks for each request', async () => {
  const { counter, asked } = openCounter(1_000, 60_000);
  await Promise.all(Array.from({ length: 200_000 }, (_, i) => counter.add(`key ${i}`)));
  asked.length = 0;
  for (const key of ['key 199999', 'one too many', 'one too many', 'one too many']) await counter.add(key);
  expect(asked).toEqual([
    ['public key 199999', 2],
    ['public one too many', 1],
    ['public one too many', 1],
    ['public one too many', 1],
  ]);
});
