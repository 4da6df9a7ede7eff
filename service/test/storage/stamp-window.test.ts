import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  clampSpans,
  hasNoStart,
  SPAN_SHIFTS,
  splitWindow,
} from '../../src/storage/transactions/stamp-window.ts';
import { EVERYTHING } from './open-test-stores.ts';

const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Stamps that lie at the borders of spans as often as elsewhere. */
const stamp = fc.oneof(
  fc.integer({ min: EARLIEST_MS, max: LATEST_MS }),
  fc
    .tuple(
      fc.constantFrom(...SPAN_SHIFTS),
      fc.integer({ min: -1_000, max: 1_000 }),
      fc.integer({ min: -2, max: 2 }),
    )
    .map(([shift, span, beside]) => span * 2 ** shift + beside),
);
/** A window that lies at least in part where there can be stamps. */
const window = fc.tuple(stamp, stamp, fc.boolean(), fc.boolean()).map(([a, b, openBefore, openAfter]) => ({
  minMs: openBefore ? Number.MIN_SAFE_INTEGER : Math.min(a, b),
  maxMs: openAfter ? Number.MAX_SAFE_INTEGER : Math.max(a, b),
}));

/** The pieces of a window as ranges of stamps, in order. */
function piecesInOrder(window: { minMs: number; maxMs: number }) {
  const { edges, spans } = splitWindow(window);
  return [
    ...edges,
    ...spans.map(({ shift, first, last }) => ({
      // Not minus zero.
      minMs: first * 2 ** shift + 0,
      maxMs: (last + 1) * 2 ** shift - 1,
    })),
  ].sort((a, b) => a.minMs - b.minMs);
}

describe('splitWindow', () => {
  test('splitWindow() covers the window without gaps or overlaps', () => {
    fc.assert(
      fc.property(window, (any) => {
        const pieces = piecesInOrder(any);
        for (const [i, piece] of pieces.entries()) {
          expect(piece.minMs).toBeLessThanOrEqual(piece.maxMs);
          if (i > 0) expect(piece.minMs).toBe((pieces[i - 1]?.maxMs ?? Number.NaN) + 1);
        }
        // Beyond what can be written as a date, a window may be cut short.
        const [first, last] = [pieces.at(0)?.minMs ?? Number.NaN, pieces.at(-1)?.maxMs ?? Number.NaN];
        if (any.minMs >= EARLIEST_MS) expect(first).toBe(any.minMs);
        else expect(first).toBeLessThanOrEqual(EARLIEST_MS);
        if (any.maxMs <= LATEST_MS) expect(last).toBe(any.maxMs);
        else expect(last).toBeGreaterThanOrEqual(LATEST_MS);
      }),
      { numRuns: 2_000 },
    );
  });

  test('splitWindow() returns few spans and at most two edges, each shorter than two of the smallest spans', () => {
    fc.assert(
      fc.property(window, (any) => {
        const { edges, spans } = splitWindow(any);
        expect(edges.length).toBeLessThanOrEqual(2);
        for (const { minMs, maxMs } of edges) expect(maxMs - minMs + 1).toBeLessThan(2 * 2 ** SPAN_SHIFTS[0]);
        for (const [i, shift] of SPAN_SHIFTS.entries()) {
          const larger = SPAN_SHIFTS[i + 1];
          if (larger === undefined) continue;
          const count = spans
            .filter((each) => each.shift === shift)
            .reduce((n, { first, last }) => n + last - first + 1, 0);
          expect(count).toBeLessThan(2 * 2 ** (larger - shift));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('splitting three years returns no more spans than documented', () => {
    const year = 365.25 * 86_400_000;
    const threeYears = { minMs: 1_700_000_000_001, maxMs: 1_700_000_000_000 + 3 * year };
    const { spans } = splitWindow(threeYears);
    expect(spans.reduce((n, { first, last }) => n + last - first + 1, 0)).toBeLessThanOrEqual(212);
  });

  test('splitting an inverted window returns no spans and no edges', () => {
    expect(splitWindow({ minMs: 5, maxMs: 4 })).toEqual({ edges: [], spans: [] });
  });

  test('splitting a single millisecond returns one edge', () => {
    expect(splitWindow({ minMs: 5, maxMs: 5 })).toEqual({
      edges: [{ minMs: 5, maxMs: 5 }],
      spans: [],
    });
  });

  test('splitting a window of whole spans returns exactly these spans', () => {
    const two = { minMs: 3 * 2 ** 25, maxMs: 5 * 2 ** 25 - 1 };
    expect(splitWindow(two)).toEqual({
      edges: [],
      spans: [{ shift: 25, first: 3, last: 4 }],
    });
  });
});

test('hasNoStart() is true only for a window that includes every early date', () => {
  expect(hasNoStart(EVERYTHING)).toBe(true);
  expect(hasNoStart({ ...EVERYTHING, minMs: EARLIEST_MS })).toBe(false);
});

test('clampSpans() keeps the spans that can contain stamps in the given range', () => {
  const range = { shift: 25, first: -10, last: 10 };
  expect(clampSpans(range, { minMs: -1, maxMs: 2 ** 25 })).toEqual({ shift: 25, first: -1, last: 1 });
  expect(clampSpans(range, { minMs: -(2 ** 40), maxMs: 2 ** 40 })).toEqual(range);
});
