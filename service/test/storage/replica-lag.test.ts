import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { MARKS_MAX, ReplicaLag } from '../../src/storage/postgres/replica.ts';

test('the replica lag is the age of the oldest change that the replica is missing', () => {
  const step = fc.record({ written: fc.nat(3), replayed: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: MARKS_MAX }), (steps) => {
      const lag = new ReplicaLag();
      /** When the primary reached each position. */
      const reachedMs: number[] = [0];
      let replayed = 0;
      steps.forEach((each, second) => {
        const nowMs = 1_000 * second;
        for (let i = 0; i < each.written; i++) reachedMs.push(nowMs);
        replayed = Math.min(replayed + each.replayed, reachedMs.length - 1);
        lag.notePrimary(reachedMs.length - 1, nowMs);
        expect(lag.measureMs(replayed, nowMs)).toBe(nowMs - (reachedMs[replayed + 1] ?? nowMs));
      });
    }),
  );
});

test('a replica that is stuck for hours does not use more memory, and only a lag of over an hour is overestimated', () => {
  const lag = new ReplicaLag();
  const hours = 6 * 3_600;
  for (let second = 0; second <= hours; second++) lag.notePrimary(second + 1, 1_000 * second);
  expect(lag.marks).toBe(MARKS_MAX);
  for (let replayed = 0; replayed <= hours; replayed += 100) {
    const exactMs = 1_000 * (hours - replayed);
    const expectedMs = exactMs >= 1_000 * (MARKS_MAX - 1) ? 1_000 * hours : exactMs;
    expect(lag.measureMs(replayed, 1_000 * hours)).toBe(expectedMs);
  }
  expect(lag.measureMs(hours + 1, 1_000 * hours)).toBe(0);
});
