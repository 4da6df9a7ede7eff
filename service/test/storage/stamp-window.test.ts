import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SPAN_MS, spanOf, splitWindow } from '../../src/storage/transactions/stamp-window.ts';

const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Random stamps. Half of them are at or next to the border of a span. */
const stamp = fc.oneof(
  fc.integer({ min: EARLIEST_MS, max: LATEST_MS }),
  fc
    .tuple(fc.integer({ min: -1_000, max: 1_000 }), fc.integer({ min: -2, max: 2 }))
    .map(([span, beside]) => span * SPAN_MS + beside),
);
/** A window that contains possible stamps. */
const window = fc.tuple(stamp, stamp, fc.boolean(), fc.boolean()).map(([a, b, openBefore, openAfter]) => ({
  minMs: openBefore ? Number.MIN_SAFE_INTEGER : Math.min(a, b),
  maxMs: openAfter ? Number.MAX_SAFE_INTEGER : Math.max(a, b),
}));

/** The pieces of a window as ranges of stamps, in order. */
function piecesInOrder(window: { minMs: number; maxMs: number }) {
  const { edges, spans } = splitWindow(window);
  // Adding 0 turns -0 into 0.
  const whole = { minMs: spans.first * SPAN_MS + 0, maxMs: (spans.last + 1) * SPAN_MS - 1 };
  return [...edges, ...(spans.first <= spans.last ? [whole] : [])].sort((a, b) => a.minMs - b.minMs);
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
        // A window may be truncated outside the range of dates.
        const [first, last] = [pieces.at(0)?.minMs ?? Number.NaN, pieces.at(-1)?.maxMs ?? Number.NaN];
        if (any.minMs >= EARLIEST_MS) expect(first).toBe(any.minMs);
        else expect(first).toBeLessThanOrEqual(EARLIEST_MS);
        if (any.maxMs <= LATEST_MS) expect(last).toBe(any.maxMs);
        else expect(last).toBeGreaterThanOrEqual(LATEST_MS);
      }),
      { numRuns: 2_000 },
    );
  });

  test('splitWindow() returns at most two edges, each of which is part of a single span', () => {
    fc.assert(
      fc.property(window, (any) => {
        const { edges } = splitWindow(any);
        expect(edges.length).toBeLessThanOrEqual(2);
        for (const { minMs, maxMs } of edges) {
          expect(spanOf(minMs)).toBe(spanOf(maxMs));
          expect(maxMs - minMs + 1).toBeLessThan(SPAN_MS);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
