// Counting requests, in one process and in several threads that share memory.

import { describe, expect, test } from 'bun:test';
import { rateLimiter } from '../../src/http/access/rate-limit.ts';
import { keptRequestCounts, requestCounts } from '../../src/http/access/request-counts.ts';

test('a new window starts after a minute on the monotonic clock', () => {
  let nowMs = 0;
  const limiter = rateLimiter('public', 1, keptRequestCounts({ slots: 10, monotonicMs: () => nowMs }));
  const take = () => limiter('key').exceeded;
  const seen = [take(), take()];
  nowMs = 59_999;
  seen.push(take());
  nowMs = 60_000;
  seen.push(take());
  expect(seen).toEqual([false, true, true, false]);
});

test('a client is never asked to try again in 0 seconds', () => {
  const kept = keptRequestCounts();
  const limiter = rateLimiter('public', 1, requestCounts(kept.table));
  limiter('key');
  // The thread that starts windows is late.
  kept.table[1] = 0;
  expect(limiter('key')).toMatchObject({ exceeded: true, retryAfterS: 1, header: '"public";r=0;t=1' });
});

test('policies are counted separately', () => {
  const counts = keptRequestCounts();
  const [one, other] = [rateLimiter('public', 1, counts), rateLimiter('private', 1, counts)];
  expect([one, other, one].map((limiter) => limiter('a').exceeded)).toEqual([false, false, true]);
});

describe('threads that share memory', () => {
  /** The main thread and two workers with one table, and a clock that the test advances. */
  function node() {
    let nowMs = 0;
    const kept = keptRequestCounts({ monotonicMs: () => nowMs });
    const pass = (ms: number) => {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 250) kept.beat();
      kept.beat();
    };
    return { first: requestCounts(kept.table), second: requestCounts(kept.table), pass };
  }

  test('threads that share memory start every window at zero and return the time left in it', () => {
    const { first, second, pass } = node();
    const seen: number[][] = [];
    for (let window = 0; window < 3; window++) {
      const { secondsLeft } = first.add('a');
      pass(20_000);
      const later = second.add('a');
      seen.push([secondsLeft, later.secondsLeft, later.count]);
      pass(40_000);
    }
    expect(seen).toEqual(Array(3).fill([60, 40, 2]));
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
