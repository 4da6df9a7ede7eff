// Splits a window of stamps into whole spans and edges (see transaction-page.ts). Pure arithmetic.
//
// A span is an interval of 2^shift ms, aligned to its size. There are three sizes. An edge is the rest of the window at
// either end, shorter than the smallest span.

import type { StampWindow } from '../../domain/transaction.ts';

/**
 * Span sizes, smallest first: 2^20 ms is about 17 minutes, 2^25 ms 9 hours, 2^30 ms 12 days. Every span in a window costs an
 * index seek; three years need at most 212 spans. A smaller minimum size would mean more spans; a larger one would mean longer
 * edges. Every size needs an index that imports have to maintain.
 */
export const SPAN_SHIFTS = [20, 25, 30] as const;

/** All valid timestamps lie between these two bounds, which are span boundaries for every size. */
const STAMP_MIN_MS = -(2 ** 46);
const STAMP_MAX_MS = 2 ** 48 - 1;

/** Consecutive numbers, both ends included. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Consecutive spans of one size. */
export interface SpanRange extends Range {
  readonly shift: number;
}

export interface WindowPieces {
  readonly edges: readonly StampWindow[];
  readonly spans: readonly SpanRange[];
}

export function hasNoStart(window: StampWindow): boolean {
  return window.minMs <= STAMP_MIN_MS;
}

/** The pieces cover exactly the window and do not overlap. */
export function splitWindow({ minMs, maxMs }: StampWindow): WindowPieces {
  const rests: SpanRange[] = [];
  // In units of 2^unit ms.
  let unit = 0;
  let range: Range = { first: Math.max(minMs, STAMP_MIN_MS), last: Math.min(maxMs, STAMP_MAX_MS) };
  for (const shift of SPAN_SHIFTS) {
    const size = 2 ** (shift - unit);
    const whole = { first: Math.ceil(range.first / size), last: Math.floor((range.last + 1) / size) - 1 };
    if (whole.first > whole.last) break;
    rests.push({ shift: unit, first: range.first, last: whole.first * size - 1 });
    rests.push({ shift: unit, first: (whole.last + 1) * size, last: range.last });
    range = whole;
    unit = shift;
  }
  const pieces = [...rests, { shift: unit, ...range }].filter(({ first, last }) => first <= last);
  return {
    edges: pieces.flatMap(({ shift, first, last }) => (shift === 0 ? [{ minMs: first, maxMs: last }] : [])),
    spans: pieces.filter(({ shift }) => shift > 0),
  };
}

/** Returns the part of a range of spans that is between two stamps. */
export function clampSpans({ shift, first, last }: SpanRange, stamps: StampWindow): SpanRange {
  return {
    shift,
    first: Math.max(first, Math.floor(stamps.minMs / 2 ** shift)),
    last: Math.min(last, Math.floor(stamps.maxMs / 2 ** shift)),
  };
}
