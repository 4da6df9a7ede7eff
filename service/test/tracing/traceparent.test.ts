import { expect, test } from 'bun:test';
import { parseTraceParent } from '../../src/tracing/tracer.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  ['with the sampled flag', `00-${TRACE}-${SPAN}-01`, true],
  ['without the sampled flag', `00-${TRACE}-${SPAN}-00`, false],
  ['with other flags', `00-${TRACE}-${SPAN}-03`, true],
  ['of a later version with more fields', `01-${TRACE}-${SPAN}-01-what-comes`, true],
  ['with surrounding spaces', ` 00-${TRACE}-${SPAN}-01 `, true],
])('parses a traceparent header %s', (_, text, isSampled) => {
  expect(parseTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
});

test.each([
  ['an empty header', ''],
  ['the forbidden version ff', `ff-${TRACE}-${SPAN}-01`],
  ['additional fields in version 0', `00-${TRACE}-${SPAN}-01-x`],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['an all-zero trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['an all-zero span id', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['two header values', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('rejects %s', (_, text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});
