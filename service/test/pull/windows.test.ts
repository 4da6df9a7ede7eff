// Windows for any clock, state and network limit: nothing is skipped, and every walk ends.

import { expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import fc from 'fast-check';
import { nextReread, nextWindow, SETTLE_MS } from '../../src/pull/windows.ts';

const NOW_MS = Date.UTC(2026, 10, 20);

const anyStream = fc.record({
  name: fc.constant('stream'),
  windowMs: fc.integer({ min: 4, max: 60 }).map((days) => days * DAY_MS),
  overlapMs: fc.integer({ min: 0, max: 3 }).map((days) => days * DAY_MS),
  historyMs: fc.integer({ min: 29, max: 1_095 }).map((days) => days * DAY_MS),
});

test('windows cover everything from the start to ten minutes ago, and are never wider than the limit', () => {
  const ageMs = fc.integer({ min: 0, max: 800 * DAY_MS });
  fc.assert(
    fc.property(anyStream, ageMs, fc.boolean(), fc.nat(DAY_MS), (rules, age, isNew, offsetMs) => {
      const nowMs = NOW_MS + offsetMs;
      let atMs = isNew ? undefined : nowMs - age;
      let coveredMs = Math.max(nowMs - age, nowMs - rules.historyMs + 1_000);
      for (let count = 0; ; count++) {
        const window = nextWindow(rules, atMs, { startMs: nowMs - age, nowMs, widthMs: rules.windowMs });
        if (window === undefined) break;
        expect(count).toBeLessThan(2_000);
        expect(window.toMs - window.fromMs).toBeLessThanOrEqual(rules.windowMs);
        expect(window.fromMs).toBeLessThanOrEqual(coveredMs);
        expect(window.toMs).toBeLessThanOrEqual(nowMs - SETTLE_MS);
        expect([window.fromMs % 1_000, window.toMs % 1_000]).toEqual([0, 0]);
        if (atMs !== undefined) expect(window.toMs).toBeGreaterThan(atMs);
        atMs = window.toMs;
        coveredMs = window.toMs;
      }
      // What remains is shorter than the precision of a filter.
      expect(nowMs - SETTLE_MS - coveredMs).toBeLessThan(2_000);
    }),
  );
});

test('the windows of sales that are read again cover the whole history, then start again', () => {
  fc.assert(
    fc.property(anyStream, fc.option(fc.integer({ min: 0, max: 2 * NOW_MS })), (rules, startMs) => {
      let atMs: number | null = startMs;
      let wraps = 0;
      for (let count = 0; count < 250 && wraps < 2; count++) {
        const window = nextReread(rules, atMs, NOW_MS);
        expect(window.toMs).toBeGreaterThan(window.fromMs);
        expect(window.toMs - window.fromMs).toBeLessThanOrEqual(rules.windowMs);
        if (atMs !== null && window.fromMs !== Math.floor(atMs / 1_000) * 1_000) wraps++;
        atMs = window.toMs;
      }
      expect(wraps).toBe(2);
    }),
  );
});
