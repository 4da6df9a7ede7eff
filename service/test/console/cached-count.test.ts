import { expect, test } from 'bun:test';
import { CachedCount, type Pause } from '../../src/console/counts/cached-count.ts';

/** A count that ends on command, and a clock that moves only when set. */
function scene() {
  const counts: { readonly pause: Pause; readonly ended: PromiseWithResolvers<string> }[] = [];
  const clock = { nowMs: 0 };
  const kept = new CachedCount(
    (pause) => {
      const ended = Promise.withResolvers<string>();
      counts.push({ pause, ended });
      return ended.promise;
    },
    () => clock.nowMs,
  );
  return { kept, clock, counts };
}

test('returns the last result with its age while a new count is running', async () => {
  const { kept, clock, counts } = scene();
  const first = kept.read();
  counts[0]?.ended.resolve('first');
  expect(await first).toEqual({
    last: { value: 'first', countedAtMs: 0, tookMs: expect.any(Number) },
    counted: undefined,
  });
  clock.nowMs = 59_999;
  expect((await kept.read()).last?.value).toBe('first');
  expect(counts).toHaveLength(1);
  clock.nowMs = 60_000;
  expect(await kept.read()).toMatchObject({ last: { value: 'first', countedAtMs: 0 }, counted: 0 });
  await counts[1]?.pause(1_000);
  // A read in the meantime starts no second count.
  expect(await kept.read()).toMatchObject({ last: { value: 'first' }, counted: 1_000 });
  expect(counts).toHaveLength(2);
  counts[1]?.ended.resolve('second');
  await Bun.sleep(0);
  expect(await kept.read()).toMatchObject({
    last: { value: 'second', countedAtMs: 60_000 },
    counted: undefined,
  });
});

test('does not wait for the end of a long first count', async () => {
  const { kept } = scene();
  // This count does not end.
  expect(await kept.read()).toEqual({ last: undefined, counted: 0 });
});

test('throws the error of a failed count to the waiting reader, and counts again at the next read', async () => {
  const { kept, counts } = scene();
  const first = kept.read();
  counts[0]?.ended.reject(new Error('the database is away'));
  expect(first).rejects.toThrow('the database is away');
  await first.catch(() => undefined);
  const second = kept.read();
  counts[1]?.ended.resolve('there');
  expect((await second).last?.value).toBe('there');
});

test('sleeps after each piece of work for as long as the piece took', async () => {
  const { kept, counts } = scene();
  void kept.read();
  const beganMs = performance.now();
  while (performance.now() - beganMs < 30) {}
  await counts[0]?.pause(1);
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(59);
});
