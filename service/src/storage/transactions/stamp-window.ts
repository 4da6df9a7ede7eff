// Cuts a window of stamps into pieces that an index can read in the order of the ids. Pure arithmetic.
//
// Stamps fall into spans of 2^shift ms, of a few sizes. An index for each size holds the transactions of a span in
// the order of their ids. So a window that is made of whole spans can be read by merging spans, the larger the
// better. What is left over at its two ends is less than one of the smallest spans each: the ragged edges.

import type { StampWindow } from '../../domain/stores.ts';

/**
 * The sizes of spans that are indexed, as shifts, the smallest first: 2^20 ms are 17 minutes, 2^25 9 hours, 2^30 12 days.
 * Every span of a window costs a seek: three years are at most 212 spans. A smaller smallest size makes more of them; a
 * larger one lets a ragged edge hold more. Each size is an index that every import has to fill.
 */
export const SPAN_SHIFTS = [20, 25, 30] as const;

/** Every date-time that can be written lies between these two, and both are borders of spans of every size. */
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

/** The pieces do not overlap, and together they are the window. */
export function splitWindow(window: StampWindow): WindowPieces {
  const spans: SpanRange[] = [];
  let edges: StampWindow[] = [];
  // In units of the size before: milliseconds at first.
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

/** The part of a range of spans that lies between two stamps. */
export function clampSpans({ shift, first, last }: SpanRange, stamps: StampWindow): SpanRange {
  return {
    shift,
    first: Math.max(first, Math.floor(stamps.minMs / 2 ** shift)),
    last: Math.min(last, Math.floor(stamps.maxMs / 2 ** shift)),
  };
}

/** What a range has before and after a part of it. */
function around(range: Range, part: Range): Range[] {
  return [
    { first: range.first, last: part.first - 1 },
    { first: part.last + 1, last: range.last },
  ].filter(({ first, last }) => first <= last);
}
