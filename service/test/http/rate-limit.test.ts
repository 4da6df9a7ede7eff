// Counting requests: in one process, in several that share memory, and what the caller is told.

import { describe, expect, test } from 'bun:test';
import { RateLimiter } from '../../src/http/access/rate-limit.ts';
import { LocalCounter } from '../../src/http/access/request-counter.ts';
import { CountKeeper, SHARED_COUNTS_BYTES, SharedCounter } from '../../src/http/access/shared-counts.ts';

test('a new window starts after a minute, by a clock that nobody can set', () => {
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

test('a process counts two hundred thousand keys in a window one by one, and further keys in shared places', () => {
  let nowMs = 0;
  const counter = new LocalCounter(() => nowMs);
  for (let i = 0; i < 200_000; i++) counter.add(`key ${i}`);
  const keys = ['key 199999', 'one too many', 'one too many'];
  expect(keys.map((key) => counter.add(key).count)).toEqual([2, 1, 2]);
  // Further keys need no further memory: they are counted together with others, never less than they should be.
  const more = Array.from({ length: 20_000 }, (_, i) => counter.add(`further ${i}`).count);
  expect(more.every((count) => count >= 1)).toBe(true);
  expect(Math.max(...more)).toBeWithin(2, 40);
  nowMs = 60_000;
  expect(counter.add('one too many').count).toBe(1);
});

describe('threads that share memory', () => {
  /** The keeper and two workers, on one table; time passes when the test says so. */
  function node() {
    let nowMs = 0;
    const table = new Int32Array(SHARED_COUNTS_BYTES / 4);
    const keeper = new CountKeeper(table, () => nowMs);
    // The test is the only one who beats.
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

  test('count together, each key for itself', () => {
    const { first, second } = node();
    const counts = [first, second, first].map((worker) => worker.add('a').count);
    expect([...counts, second.add('b').count]).toEqual([1, 2, 3, 1]);
  });

  test('policies do not mix', () => {
    const { table, first } = node();
    const other = new SharedCounter(table, 'private');
    expect([first.add('a').count, other.add('a').count]).toEqual([1, 1]);
  });

  test('begin every window with nothing, and know how much of it is left', () => {
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

  test('keep a hundred thousand keys apart, and count keys that find no place together with others', () => {
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
