// Counting requests, in one process and in several threads that share memory.

import { describe, expect, test } from 'bun:test';
import { RateLimiter } from '../../src/http/access/rate-limit.ts';
import { LocalCounter } from '../../src/http/access/request-counter.ts';
import { CountKeeper, SHARED_COUNTS_BYTES, SharedCounter } from '../../src/http/access/shared-counts.ts';

test('a new window starts after a minute on the monotonic clock', () => {
  let nowMs = 0;
  const limiter = new RateLimiter('public', 1, new LocalCounter(() => nowMs));
  const take = () => (limiter.take('key') as { exceeded: boolean }).exceeded;
  const seen = [take(), take()];
  nowMs = 59_999;
  seen.push(take());
  nowMs = 60_000;
  seen.push(take());
  expect(seen).toEqual([false, true, true, false]);
});

test('a client is never asked to try again in 0 seconds', () => {
  const limiter = new RateLimiter('public', 1, { add: () => ({ count: 2, windowLeftMs: 0 }) });
  expect(limiter.take('key')).toMatchObject({ exceeded: true, retryAfterS: 1, header: '"public";r=0;t=1' });
});

test('a process counts 200,000 keys per window separately, and additional keys in shared counters', () => {
  let nowMs = 0;
  const counter = new LocalCounter(() => nowMs);
  for (let i = 0; i < 200_000; i++) counter.add(`key ${i}`);
  const keys = ['key 199999', 'one too many', 'one too many'];
  expect(keys.map((key) => counter.add(key).count)).toEqual([2, 1, 2]);
  // Further keys need no memory: they share counters, so their counts may be too high but never too low.
  const more = Array.from({ length: 20_000 }, (_, i) => counter.add(`further ${i}`).count);
  expect(more.every((count) => count >= 1)).toBe(true);
  expect(Math.max(...more)).toBeWithin(2, 40);
  nowMs = 60_000;
  expect(counter.add('one too many').count).toBe(1);
});

describe('threads that share memory', () => {
  /** The keeper and two workers on one table, with a clock that the test advances. */
  function node() {
    let nowMs = 0;
    const table = new Int32Array(SHARED_COUNTS_BYTES / 4);
    const keeper = new CountKeeper(table, () => nowMs);
    // Only the test calls beat().
    keeper.stop();
    const pass = (ms: number) => {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 250) keeper.beat();
      keeper.beat();
    };
    return {
      table,
      first: new SharedCounter(table, 'public'),
      second: new SharedCounter(table, 'public'),
      pass,
    };
  }

  test('threads that share memory share one count per key', () => {
    const { first, second } = node();
    const counts = [first, second, first].map((worker) => worker.add('a').count);
    expect([...counts, second.add('b').count]).toEqual([1, 2, 3, 1]);
  });

  test('threads that share memory count each policy separately', () => {
    const { table, first } = node();
    const other = new SharedCounter(table, 'private');
    expect([first.add('a').count, other.add('a').count]).toEqual([1, 1]);
  });

  test('threads that share memory start every window at zero and return the time left in it', () => {
    const { first, second, pass } = node();
    const seen: number[][] = [];
    for (let window = 0; window < 3; window++) {
      const { windowLeftMs } = first.add('a');
      pass(20_000);
      const later = second.add('a');
      seen.push([windowLeftMs, later.windowLeftMs, later.count]);
      pass(40_000);
    }
    expect(seen).toEqual(Array(3).fill([60_000, 40_000, 2]));
  });

  test("threads that share memory count 100,000 keys separately, and keys beyond the table's capacity in shared counters", () => {
    const { first, second } = node();
    const wrong = [];
    for (let i = 0; i < 100_000; i++) first.add(`key ${i}`);
    for (let i = 0; i < 100_000; i++) {
      const { count } = second.add(`key ${i}`);
      if (count !== 2) wrong.push([i, count]);
    }
    expect(wrong).toEqual([]);
    for (let i = 100_000; i < 600_000; i++) first.add(`key ${i}`);
    const { count } = second.add('one too many');
    expect(count).toBeWithin(2, 20);
    expect(first.add('one too many').count).toBe(count + 1);
  });
});
