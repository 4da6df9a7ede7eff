import { expect, jest, test } from 'bun:test';
import { inBatches, withTimeout } from '../../src/domain/promises.ts';

test('withTimeout() throws an error created at the timeout if the promise is late, even if the promise rejects later', async () => {
  const work = Promise.withResolvers<never>();
  let calls = 0;
  const waiting = withTimeout(work.promise, 5, () => {
    calls += 1;
    return new Error('late');
  });
  expect(calls).toBe(0);
  await expect(waiting).rejects.toThrow('late');
  work.reject(new Error('too late'));
  await Bun.sleep(0);
  expect(calls).toBe(1);
});

test('withTimeout() returns the result or the error of a promise that settles in time, and leaves no timer running', async () => {
  jest.useFakeTimers();
  try {
    const late = () => new Error('late');
    expect(await withTimeout(Promise.resolve(7), 60_000, late)).toBe(7);
    await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, late)).rejects.toThrow('broken');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('inBatches() processes every item once, in one batch of limited size at a time', async () => {
  const sizes: number[] = [];
  let running = 0;
  const batches = inBatches(async (items: number[]) => {
    expect(++running).toBe(1);
    sizes.push(items.length);
    await Bun.sleep(0);
    running -= 1;
    if (items.includes(4)) throw new Error('broken');
    return items.map((item) => item * 2);
  }, 3);
  const results = [1, 2, 3, 4, 5, 6, 7].map((item) =>
    batches.add(item).catch((error: Error) => error.message),
  );
  expect(await Promise.all(results)).toEqual([2, 4, 6, 'broken', 'broken', 'broken', 14]);
  expect(sizes).toEqual([3, 3, 1]);
  expect(await batches.add(8)).toBe(16);
});
