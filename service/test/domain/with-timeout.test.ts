import { expect, jest, test } from 'bun:test';
import { withTimeout } from '../../src/domain/with-timeout.ts';

const never = new Promise<never>(() => {});
const late = () => new Error('late');

test('work that is done in time is passed on, whether it succeeds or fails', async () => {
  expect(await withTimeout(Promise.resolve(7), 60_000, late)).toBe(7);
  await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, late)).rejects.toThrow('broken');
});

test('work that is not done in time is an error, made at that moment', async () => {
  let calls = 0;
  const waiting = withTimeout(never, 5, () => {
    calls += 1;
    return new Error('late');
  });
  expect(calls).toBe(0);
  await expect(waiting).rejects.toThrow('late');
  expect(calls).toBe(1);
});

test('work that fails after its time is up ends nobody', async () => {
  const work = Promise.withResolvers<never>();
  await expect(withTimeout(work.promise, 1, late)).rejects.toThrow('late');
  work.reject(new Error('too late'));
  await Bun.sleep(0);
});

test('no timer is left when the work is done', async () => {
  jest.useFakeTimers();
  try {
    await withTimeout(Promise.resolve(), 60_000, late);
    await withTimeout(Promise.reject(new Error('broken')), 60_000, late).catch(() => {});
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
