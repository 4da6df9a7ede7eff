import { expect, test } from 'bun:test';
import { SendSlots } from '../../src/webhooks/send-slots.ts';
import { until } from '../support/until.ts';

test('every run releases its slot in its own group', async () => {
  const slots = new SendSlots();
  const hanging = Promise.withResolvers<void>();
  let started = 0;
  const hang = () => {
    started++;
    return hanging.promise;
  };
  // Twice as many as fit into the fast group: the first eight move to the slow group.
  const moved = Array.from({ length: 16 }, () => slots.run(false, hang));
  await until(() => started === 16);
  hanging.resolve();
  await Promise.all(moved);
  // More than both groups can hold.
  for (const isSlow of [true, false])
    for (let i = 0; i < 300; i++) expect(await slots.run(isSlow, async () => i)).toBe(i);
});

test('a failed run also releases its slot', async () => {
  const slots = new SendSlots();
  for (let i = 0; i < 300; i++)
    await expect(slots.run(i % 2 === 0, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});
