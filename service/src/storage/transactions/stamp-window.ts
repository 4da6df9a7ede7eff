// Splits a window of stamps into whole spans and two edges (see transaction-page.ts). Pure arithmetic.
//
// A span is an interval of 2^shift ms, aligned to its size. There are three sizes. The rest of the window at either end is
// shorter than the smallest span: an edge.

import type { StampWindow } from '../../domain/transaction.ts';

/**
 * The sizes of spans, smallest first: 2^20 ms are 17 minutes, 2^25 ms 9 hours, 2^30 ms 12 days. Every span of a window costs
 * an index seek; three years are at most 212 spans. A smaller smallest size would mean more spans, a larger one longer edges.
 * Every size is an index that imports have to maintain.
 */
export const SPAN_SHIFTS = [20, 25, 30] as const;

/** All valid timestamps are between these two, and both are boundaries of spans of every size. */
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

/** The pieces do not overlap, and cover exactly the window. */
export function splitWindow(window: StampWindow): WindowPieces {
  const spans: SpanRange[] = [];
  let edges: StampWindow[] = [];
  // In units of the previous size; in milliseconds at first.
  let range: Range = {
    first: Math.max(window.minMs, STAMP_MIN_MS),
    last: Math.min(window.maxMs, STAMP_MAX_MS),
  };
  let unit = 0;
  const keep = (rest: readonly Range[]) => {
    if (unit === 0) edges = rest.map(({ first, last }) => ({ minMs: first, maxMs: last }));
    else spans.push(...rest.map((each) => ({ shift: unit, ...each })));
  };
  for (const shift of SPAN_SHIFTS) {
    const size = 2 ** (shift - unit);
    const whole = { first: Math.ceil(range.first / size), last: Math.floor((range.last + 1) / size) - 1 };
    if (whole.first > whole.last) break;
    keep(around(range, { first: whole.first * size, last: (whole.last + 1) * size - 1 }));
    range = whole;
    unit = shift;
  }
  keep(range.first <= range.last ? [range] : []);
  return { edges, spans };
}

/** The part of a range of spans that is between two stamps. */
export function clampSpans({ shift, first, last }: SpanRange, stamps: StampWindow): SpanRange {
  return {
    shift,
    first: Math.max(first, Math.floor(stamps.minMs / 2 ** shift)),
    last: Math.min(last, Math.floor(stamps.maxMs / 2 ** shift)),
  };
}

/** The rest of a range before and after a part of it. */
function around(range: Range, part: Range): Range[] {
  return [
    { first: range.first, last: part.first - 1 },
    { first: part.last + 1, last: range.last },
  ].filter(({ first, last }) => first <= last);
}
