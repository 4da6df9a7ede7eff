// Splits a window of stamps into whole spans and edges (see transaction-page.ts). Pure arithmetic.
//
// A span is an interval of SPAN_MS, aligned to its size. An edge is a part of a span: what the window covers of its first or
// last span.

import type { StampWindow } from '../../domain/transaction.ts';
import { SPAN_SHIFT } from '../schema/tables.ts';

export const SPAN_MS = 2 ** SPAN_SHIFT;

/** All valid timestamps lie between these two bounds, which are span boundaries. */
const STAMP_MIN_MS = -(2 ** 46);
const STAMP_MAX_MS = 2 ** 48 - 1;

/** Consecutive spans, both ends included; empty if `first` is greater than `last`. */
export interface SpanRange {
  readonly first: number;
  readonly last: number;
}

export function hasNoStart(minMs: number): boolean {
  return minMs <= STAMP_MIN_MS;
}

/** Returns the number of the span that contains a stamp. */
export function spanOf(ms: number): number {
  return Math.floor(ms / SPAN_MS);
}

/** The pieces cover exactly the window and do not overlap. */
export function splitWindow(window: StampWindow): { edges: StampWindow[]; spans: SpanRange } {
  const minMs = Math.max(window.minMs, STAMP_MIN_MS);
  const maxMs = Math.min(window.maxMs, STAMP_MAX_MS);
  const spans = { first: Math.ceil(minMs / SPAN_MS), last: spanOf(maxMs + 1) - 1 };
  const [beginMs, endMs] = [spans.first * SPAN_MS, (spans.last + 1) * SPAN_MS];
  // If begin and end are in the wrong order, the whole window is inside one span.
  const edges =
    beginMs > endMs
      ? [{ minMs, maxMs }]
      : [
          { minMs, maxMs: beginMs - 1 },
          { minMs: endMs, maxMs },
        ];
  return { edges: edges.filter((edge) => edge.minMs <= edge.maxMs), spans };
}

/** Returns the spans of a range that can contain stamps between two bounds. */
export function clampSpans({ first, last }: SpanRange, { minMs, maxMs }: StampWindow): SpanRange {
  return { first: Math.max(first, spanOf(minMs)), last: Math.min(last, spanOf(maxMs)) };
}
