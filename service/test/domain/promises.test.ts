import { expect, jest, test } from 'bun:test';
import { withTimeout } from '../../src/domain/promises.ts';

const never = new Promise<never>(() => {});
const late = () => new Error('late');

test('withTimeout() returns the result or error of a promise that settles in time', async () => {
  expect(await withTimeout(Promise.resolve(7), 60_000, late)).toBe(7);
  await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, late)).rejects.toThrow('broken');
});

test('withTimeout() throws an error created at the timeout if the promise is late', async () => {
  let calls = 0;
  const waiting = withTimeout(never, 5, () => {
    calls += 1;
    return new Error('late');
  });
  expect(calls).toBe(0);
  await expect(waiting).rejects.toThrow('late');
  expect(calls).toBe(1);
});

test('a promise that rejects after the timeout does not cause an unhandled rejection', async () => {
  const work = Promise.withResolvers<never>();
  await expect(withTimeout(work.promise, 1, late)).rejects.toThrow('late');
  work.reject(new Error('too late'));
  await Bun.sleep(0);
});

test('withTimeout() does not leave a timer running', async () => {
  jest.useFakeTimers();
  try {
    await withTimeout(Promise.resolve(), 60_000, late);
    await withTimeout(Promise.reject(new Error('broken')), 60_000, late).catch(() => {});
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
