import { expect, test } from 'bun:test';
import { type Breather, KeptCount } from '../../src/console/counts/kept-count.ts';

/** A count that ends when it is told to, and a clock that stands still unless it is set. */
function scene() {
  const counts: { readonly breathe: Breather; readonly ended: PromiseWithResolvers<string> }[] = [];
  const clock = { nowMs: 0 };
  const kept = new KeptCount(
    (breathe) => {
      const ended = Promise.withResolvers<string>();
      counts.push({ breathe, ended });
      return ended.promise;
    },
    () => clock.nowMs,
  );
  return { kept, clock, counts };
}

test('a count that takes long is shown with its age while the next is made', async () => {
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
  await counts[1]?.breathe(1_000);
  // Whoever asks meanwhile begins no other count.
  expect(await kept.read()).toMatchObject({ last: { value: 'first' }, counted: 1_000 });
  expect(counts).toHaveLength(2);
  counts[1]?.ended.resolve('second');
  await Bun.sleep(0);
  expect(await kept.read()).toMatchObject({
    last: { value: 'second', countedAtMs: 60_000 },
    counted: undefined,
  });
});

test('nobody waits for the end of a long first count', async () => {
  const { kept } = scene();
  // The count of this scene does not end.
  expect(await kept.read()).toEqual({ last: undefined, counted: 0 });
});

test('a count that fails is told to whoever waits for it, and tried again by the next', async () => {
  const { kept, counts } = scene();
  const first = kept.read();
  counts[0]?.ended.reject(new Error('the database is away'));
  expect(first).rejects.toThrow('the database is away');
  await first.catch(() => undefined);
  const second = kept.read();
  counts[1]?.ended.resolve('there');
  expect((await second).last?.value).toBe('there');
});

test('after a piece of work, a count rests for as long as the piece took', async () => {
  const { kept, counts } = scene();
  void kept.read();
  const beganMs = performance.now();
  while (performance.now() - beganMs < 30) {}
  await counts[0]?.breathe(1);
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(59);
});
