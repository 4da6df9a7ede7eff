import { afterEach, expect, jest, test } from 'bun:test';
import { withinDeadline } from '../../src/http/operations/database-deadline.ts';

afterEach(() => jest.useRealTimers());

test('a request waits less than two seconds for a database that does not respond', async () => {
  jest.useFakeTimers();
  let reason = '';
  void withinDeadline(new Promise(() => {})).catch((error: Error) => {
    reason = error.message;
  });
  jest.advanceTimersByTime(1_999);
  jest.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reason).toBe('the database did not respond in time');
});
