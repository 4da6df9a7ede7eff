import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseTraceParent } from '../../src/tracing/traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''))
    .filter((text) => !/^0+$/.test(text));

test.each([
  ['sampled', `00-${TRACE}-${SPAN}-01`, true],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
  ['other flags', `00-${TRACE}-${SPAN}-03`, true],
  ['a later version with more behind it', `01-${TRACE}-${SPAN}-01-what-comes`, true],
  ['blanks around it', ` 00-${TRACE}-${SPAN}-01 `, true],
])('%s', (_, text, isSampled) => {
  expect(parseTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
});

test.each([
  ['nothing', ''],
  ['a version that is forbidden', `ff-${TRACE}-${SPAN}-01`],
  ['more behind the flags of version 0', `00-${TRACE}-${SPAN}-01-x`],
  ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['two headers in one', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('%s is none', (_, text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});

test('what is written is read, and nothing that a stranger writes makes it fail', () => {
  fc.assert(
    fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 255 }), (traceId, spanId, flags) => {
      const text = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
      expect(parseTraceParent(text)).toEqual({ traceId, spanId, isSampled: flags % 2 === 1 });
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseTraceParent(text)).toBeUndefined();
    }),
  );
});
